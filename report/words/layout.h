// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How the text report puts words and figures on a page of some columns. Knows nothing of findings.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "blame/amount.h"

namespace culprit::report {

/// Columns of a page that goes to a file, and to a terminal that is wide enough.
inline constexpr size_t kUsualWidth = 100;
/// A narrower one has no room for figures and words beside each other: they stand below.
inline constexpr size_t kRoomBeside = 72;
/// Nothing is set narrower.
inline constexpr size_t kLeastWidth = 40;

/// Columns of all pages of this process. Set before the first is made.
size_t page_width();
void set_page_width(size_t columns);

/// Returns the column where the words of an entry begin, beside or below its figures.
size_t text_column();
/// An entry: its figures, and `text` from text_column() on.
std::string beside(std::string_view figures, std::string_view text);
/// Returns the columns that are left in a line for a name after `columns` columns: a few in any
/// case.
size_t room_behind(size_t columns);
/// A finished page whose lines are too long for a narrow terminal, with these broken.
std::string fitted(std::string page);

/// One unit for a whole report, chosen by the run's length, so that figures can be compared by eye.
class TimeFormat {
 public:
  explicit TimeFormat(double longest_s);
  /// "11.25 s", "3.40 ms"; what is not 0 but too small to show becomes "< 0.01 s". A sum of 10 000
  /// or more in a small unit has the next: "1566.44 ms".
  std::string operator()(double seconds) const;

 private:
  size_t scale_ = 0;  ///< s, ms or us
  int digits_ = 2;
};

/// "36.4 %", "< 0.1 %"; "" where it is not known.
std::string percent(blame::Proportion proportion);

/// For a sentence, where tenths only distract: "36 %", "3.2 %".
std::string rounded(blame::Proportion proportion);

/// "1 thread", "4 threads". `several` defaults to `one` with an s.
std::string counted(size_t count, std::string_view one, std::string_view several = {});

/// 1234567 as "1 234 567".
std::string grouped(size_t number);

/// Breaks `text` at blanks into lines of at most page_width(), each indented and ended by a
/// newline. A longer word stands on a line of its own.
std::string wrapped(std::string_view text, size_t indent);

/// A call path in at most `width` columns: the root and as much of the end as there is room for,
/// "..." for what is left out between them. Of a function whose name is too long, a short form.
std::string shortened(std::string_view path, size_t width);

/// Shortens the paths of a table, each as above. Where two would look the same, each keeps the part
/// that distinguishes it.
std::vector<std::string> shortened(const std::vector<std::string>& paths, size_t width);

/// The first `width` columns of `text`.
std::string cut_to(std::string_view text, size_t width);

/// `text` filled up with blanks to `width` columns, at the left or at the right.
std::string left(std::string_view text, size_t width);
std::string right(std::string_view text, size_t width);

/// "a", "a and b", "a, b and c".
template <class Strings>
std::string listed(const Strings& items) {
  std::string text;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += i + 1 == items.size() ? " and " : ", ";
    text += items[i];
  }
  return text;
}

}  // namespace culprit::report
