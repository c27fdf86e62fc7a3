// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See layout.h. Columns are counted in UTF-8 code points: names may hold more than ASCII, the
// report's own words do not, since it also goes to log files and plain terminals.

#include "report/words/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "report/words/columns.h"
#include "report/words/short_name.h"

namespace culprit::report {
namespace {

size_t width_of_pages = kUsualWidth;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

}  // namespace

size_t page_width() {
  return width_of_pages;
}

void set_page_width(size_t columns) {
  width_of_pages = std::max(columns, kLeastWidth);
}

size_t text_column() {
  constexpr size_t kBeside = 25, kBelow = 4;
  return width_of_pages >= kRoomBeside ? kBeside : kBelow;
}

std::string beside(std::string_view figures, std::string_view text) {
  std::string lines = wrapped(text, text_column());
  if (width_of_pages >= kRoomBeside) {
    return lines.replace(0, text_column(), left(figures, text_column()));
  }
  std::string above;
  for (const std::string_view word : split(figures, ' ')) {
    if (!word.empty()) above += (above.empty() ? "" : " ") + std::string(word);
  }
  return "  " + above + '\n' + lines;
}

size_t room_behind(size_t columns) {
  constexpr size_t kSomething = 16;
  return std::max(width_of_pages, columns + kSomething) - columns;
}

std::string fitted(std::string page) {
  if (width_of_pages >= kRoomBeside) return page;
  std::string narrow;
  for (const std::string_view line : split(page, '\n')) {
    if (columns(line) <= width_of_pages) {
      narrow += std::string(line) + '\n';
      continue;
    }
    const size_t indent = line.find_first_not_of(' ');
    narrow += wrapped(line.substr(indent), std::min(indent, width_of_pages / 4));
  }
  narrow.pop_back();  // there is no line behind the last
  return narrow;
}

namespace {

struct Unit {
  double per_second;
  std::string_view name;
};
constexpr Unit kUnits[] = {{1, "s"}, {1e3, "ms"}, {1e6, "us"}};
constexpr double kTooLarge = 1e4;

}  // namespace

TimeFormat::TimeFormat(double longest_s) {
  if (longest_s >= 1 || longest_s <= 0) {
    digits_ = longest_s >= 1000 ? 1 : 2;
  } else {
    scale_ = longest_s >= 1e-3 ? 1 : 2;
  }
}

std::string TimeFormat::operator()(double seconds) const {
  size_t scale = scale_;
  while (scale > 0 && std::abs(seconds) * kUnits[scale].per_second >= kTooLarge) --scale;
  const double value = seconds * kUnits[scale].per_second;
  const double smallest = std::pow(10.0, -digits_);
  if (value > 0 && value < smallest / 2)
    return fmt::format("< {:.{}f} {}", smallest, digits_, kUnits[scale].name);
  return fmt::format("{:.{}f} {}", std::abs(value) < smallest / 2 ? 0.0 : value, digits_,
                     kUnits[scale].name);
}

std::string percent(blame::Proportion proportion) {
  if (!proportion.known()) return "";
  const double share = 100 * proportion.value();
  if (share > 0 && share < 0.05) return "< 0.1 %";
  return fmt::format("{:.1f} %", share);
}

std::string rounded(blame::Proportion proportion) {
  if (!proportion.known()) return "";
  const double value = 100 * proportion.value();
  return value < 9.95 ? percent(proportion) : fmt::format("{:.0f} %", value);
}

std::string counted(size_t count, std::string_view one, std::string_view several) {
  if (count == 1) return fmt::format("1 {}", one);
  return several.empty() ? fmt::format("{} {}s", grouped(count), one)
                         : fmt::format("{} {}", grouped(count), several);
}

std::string grouped(size_t number) {
  std::string digits = std::to_string(number);
  for (size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ' ');
  return digits;
}

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Whether no line ends between the two: "1 299", "0.58 s", "24 %".
bool belong_together(std::string_view number, std::string_view next) {
  if (number.empty() || !is_digit(number.back())) return false;
  const auto letters =
      static_cast<size_t>(std::find_if(next.begin(), next.end(),
                                       [](char c) { return c != '%' && !(c >= 'a' && c <= 'z'); }) -
                          next.begin());
  if (letters > 0)
    return next.starts_with('%') || next.substr(0, letters) == "s" ||
           next.substr(0, letters) == "ms" || next.substr(0, letters) == "us";
  constexpr size_t kGroup = 3;
  return std::count_if(next.begin(), next.end(), is_digit) == kGroup &&
         std::all_of(next.begin(), next.begin() + kGroup, is_digit);
}

/// The words of a text, of which those that belong together are one.
std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty()) continue;
    if (!words.empty() && belong_together(words.back(), word)) {
      words.back().append(" ").append(word);
    } else {
      words.emplace_back(word);
    }
  }
  return words;
}

}  // namespace

std::string wrapped(std::string_view text, size_t indent) {
  std::string page, line;
  const auto flush = [&] {
    if (!line.empty()) page += std::string(indent, ' ') + line + '\n';
    line.clear();
  };
  for (const std::string& word : words_of(text)) {
    if (!line.empty() && indent + columns(line) + 1 + columns(word) > page_width()) flush();
    if (!line.empty()) line += ' ';
    line += word;
  }
  flush();
  return page;
}

namespace {

/// Less is no name.
constexpr size_t kLeastName = 12;
/// Of a longer one in many namespaces, callers mean more than these.
constexpr size_t kGoodName = 24;

/// The root, the part at `apart`, and as much of the end as there is room for.
std::string shortened_but(const std::vector<std::string_view>& parts, size_t apart, size_t width) {
  const size_t last = parts.size() - 1;
  std::string head = short_name(parts.front(), std::max(kLeastName, width / 4));
  if (apart > 1) head += "/...";
  if (apart > 0 && apart < last) {
    head += '/' + short_name(parts[apart], std::max(kLeastName, width / 3));
  }
  const bool is_next = apart + 1 == last || last == 1;
  const std::string gap = is_next ? "" : "/...";
  const size_t least = std::min(columns(parts.back()), kLeastName);
  if (columns(head) + columns(gap) + 1 + least > width) return short_name(parts.back(), width);
  const size_t room = width - columns(head) - columns(gap) - 1;
  const bool is_long = columns(parts.back()) > room && parts.back().find("::") != std::string::npos;
  const size_t wanted = is_long ? std::min(room, std::max(room / 2, kGoodName)) : room;
  std::string tail = '/' + short_name(parts.back(), wanted);
  size_t from = last;
  while (from > apart + 1 &&
         columns(head) + columns(gap) + columns(tail) + 1 + columns(parts[from - 1]) <= width) {
    tail = fmt::format("/{}{}", parts[--from], tail);
  }
  return head + (from > apart + 1 ? gap : "") + tail;
}

}  // namespace

std::string shortened(std::string_view path, size_t width) {
  if (columns(path) <= width) return std::string(path);
  const std::vector<std::string_view> parts = split(path, '/');
  return parts.size() == 1 ? short_name(path, width) : shortened_but(parts, 0, width);
}

namespace {

/// How many parts two paths end alike in.
size_t alike_at_the_end(std::string_view a, std::string_view b) {
  const auto all = split(a, '/'), others = split(b, '/');
  const auto differ = std::mismatch(all.rbegin(), all.rend(), others.rbegin(), others.rend());
  return static_cast<size_t>(differ.first - all.rbegin());
}

std::string_view last_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

size_t common_beginning(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                             a.begin());
}

}  // namespace

std::vector<std::string> shortened(const std::vector<std::string>& paths, size_t width) {
  std::vector<std::string> all;
  for (const std::string& path : paths) all.push_back(shortened(path, width));
  std::vector<std::string> apart = all;
  for (size_t i = 0; i < all.size(); ++i) {
    size_t alike = 0, common = std::string::npos;
    bool collides = false;
    for (size_t j = 0; j < all.size(); ++j) {
      if (all[i] != all[j] || paths[i] == paths[j]) continue;
      collides = true;
      alike = std::max(alike, alike_at_the_end(paths[i], paths[j]));
      common = std::min(common, common_beginning(last_part(paths[i]), last_part(paths[j])));
    }
    const std::vector<std::string_view> parts = split(paths[i], '/');
    if (!collides || (alike > 0 && alike + 1 >= parts.size())) continue;
    apart[i] = alike > 0 ? shortened_but(parts, parts.size() - 1 - alike, width)
                         : short_name_around(parts.back(), common, width);
  }
  return apart;
}

std::string cut_to(std::string_view text, size_t width) {
  return std::string(first_columns(text, width));
}

std::string left(std::string_view text, size_t width) {
  const size_t used = columns(text);
  return std::string(text) + std::string(used < width ? width - used : 0, ' ');
}

std::string right(std::string_view text, size_t width) {
  const size_t used = columns(text);
  return std::string(used < width ? width - used : 0, ' ') + std::string(text);
}

}  // namespace culprit::report
