// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The typed value of a setting, and how it is read from the text that a user gave. Values travel as
// the user wrote them: culprit checks a text with the very function by which the collector will
// read it. Nothing here allocates or throws.
#pragma once

#include <algorithm>
#include <limits>
#include <type_traits>

#include "base/frequent_events.h"
#include "base/settings.h"

namespace culprit {

/// Seconds since the program began.
struct Window {
  double begin_s = 0;
  double end_s = 0;  ///< 0: never
};

/// Called where a constant is required, to stop the compiler: it is no constant expression.
void no_such_word_in_settings_def();

/// One of the words of a row. It compares with a word; one that the row does not have does not
/// compile.
template <Setting setting>
class Choice {
 public:
  static constexpr size_t kNone = ~size_t{0};

  struct Word {
    consteval Word(const char* word) : place(place_of(word)) {
      if (place == kNone) no_such_word_in_settings_def();
    }
    size_t place;
  };

  constexpr bool operator==(Word word) const { return place_ == word.place; }

  /// False if the row has no such word.
  constexpr bool choose(std::string_view word) {
    const size_t place = place_of(word);
    if (place == kNone) return false;
    place_ = place;
    return true;
  }

 private:
  static constexpr size_t place_of(std::string_view sought) {
    size_t place = 0;
    const bool absent = for_each_word(text(setting).shape.words, [&](std::string_view word) {
      return word != sought && ++place != 0;
    });
    return absent ? kNone : place;
  }

  size_t place_ = 0;
};

namespace setting_types {

template <Setting setting>
constexpr auto of() {
  constexpr Shape shape = text(setting).shape;
  if constexpr (shape.kind == Shape::Kind::flag) {
    return std::type_identity<bool>();
  } else if constexpr (shape.kind == Shape::Kind::number) {
    return std::type_identity<unsigned>();
  } else if constexpr (shape.kind == Shape::Kind::size) {
    return std::type_identity<uint64_t>();
  } else if constexpr (shape.kind == Shape::Kind::choice) {
    return std::type_identity<Choice<setting>>();
  } else if constexpr (shape.kind == Shape::Kind::window) {
    return std::type_identity<Window>();
  } else if constexpr (shape.kind == Shape::Kind::frequent_events) {
    return std::type_identity<Without>();
  } else {
    return std::type_identity<char[shape.capacity]>();
  }
}

}  // namespace setting_types

template <Setting setting>
using ValueOf = typename decltype(setting_types::of<setting>())::type;

// --- Reading. Each returns false if the text makes no sense; then `to` is anything. ---

constexpr bool read_number(std::string_view text, uint64_t& to) {
  to = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    const auto digit = static_cast<uint64_t>(c - '0');
    if (to > (std::numeric_limits<uint64_t>::max() - digit) / 10) return false;
    to = to * 10 + digit;
  }
  return !text.empty();
}

/// "2G", "64 MiB": units are powers of 1024.
constexpr bool read_size(std::string_view text, uint64_t& to) {
  constexpr std::string_view kUnits = "kmgtpe";
  const auto in_lower_case = [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; };
  const auto drops = [&](char last) {
    const bool found = !text.empty() && in_lower_case(text.back()) == last;
    if (found) text.remove_suffix(1);
    return found;
  };
  const bool bytes = drops('b');
  const bool binary = drops('i');
  unsigned shift = 0;
  for (size_t i = 0; i < kUnits.size() && shift == 0; ++i) {
    if (drops(kUnits[i])) shift = 10 * static_cast<unsigned>(i + 1);
  }
  while ((bytes || shift > 0) && drops(' ')) {
  }
  if ((binary && shift == 0) || !read_number(text, to)) return false;
  const bool fits = to <= std::numeric_limits<uint64_t>::max() >> shift;
  to <<= shift;
  return fits;
}

/// "10", "1.5".
constexpr bool read_decimal(std::string_view text, double& to) {
  const size_t point = std::min(text.find('.'), text.size());
  double scale = 1;
  to = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == point) continue;
    if (text[i] < '0' || text[i] > '9') return false;
    to = to * 10 + (text[i] - '0');
    if (i > point) scale *= 10;
  }
  to /= scale;
  return text.size() > (point < text.size() ? 1u : 0u);
}

/// "10", "10s", "1.5m", "200ms", "1h" in seconds; an empty text is 0.
constexpr bool read_seconds(std::string_view text, double& to) {
  struct Unit {
    std::string_view name;
    double seconds;
  };
  constexpr Unit kUnits[] = {{"ms", 0.001}, {"s", 1}, {"min", 60}, {"m", 60}, {"h", 3600}};
  to = 0;
  if (text.empty()) return true;
  for (const Unit& unit : kUnits) {
    if (!text.ends_with(unit.name)) continue;
    const bool good = read_decimal(text.substr(0, text.size() - unit.name.size()), to);
    to *= unit.seconds;
    return good;
  }
  return read_decimal(text, to);
}

/// "10s..60s", "10s..", "..1m"; it must leave something out.
constexpr bool read_window(std::string_view text, Window& to) {
  const size_t dots = text.find("..");
  if (dots == text.npos || !read_seconds(text.substr(0, dots), to.begin_s) ||
      !read_seconds(text.substr(dots + 2), to.end_s)) {
    return false;
  }
  return to.end_s > 0 ? to.end_s > to.begin_s : to.begin_s > 0;
}

/// "a-b" or "a"; not backward.
constexpr bool is_range(std::string_view text) {
  const size_t dash = text.find('-');
  uint64_t first = 0, last = 0;
  if (!read_number(text.substr(0, dash), first)) return false;
  return dash == text.npos || (read_number(text.substr(dash + 1), last) && first <= last);
}

/// "solve", "step:10-20".
constexpr bool is_phase(std::string_view text) {
  const size_t colon = text.rfind(':');
  return colon == text.npos || (colon > 0 && is_range(text.substr(colon + 1)));
}

/// True for any text but those that mean no, so that `CULPRIT_...=yes` has no surprise.
constexpr bool is_on(std::string_view text) {
  constexpr std::string_view kNo[] = {"", "0", "false", "off", "no"};
  return std::find(std::begin(kNo), std::end(kNo), text) == std::end(kNo);
}

/// All of the text, or nothing.
template <size_t capacity>
constexpr bool copy_whole(std::string_view text, char (&to)[capacity]) {
  if (text.size() >= capacity) return false;
  *std::copy(text.begin(), text.end(), to) = '\0';
  return true;
}

template <Setting setting>
constexpr bool read_setting(std::string_view given, ValueOf<setting>& to) {
  using Kind = Shape::Kind;
  constexpr Shape shape = text(setting).shape;
  if constexpr (shape.kind == Kind::flag) {
    to = is_on(given);
    return true;
  } else if constexpr (shape.kind == Kind::number) {
    uint64_t number = 0;
    const bool good = read_number(given, number) && number >= shape.least && number <= shape.most;
    to = static_cast<unsigned>(number);
    return good;
  } else if constexpr (shape.kind == Kind::size) {
    return read_size(given, to);
  } else if constexpr (shape.kind == Kind::choice) {
    return to.choose(given);
  } else if constexpr (shape.kind == Kind::window) {
    return read_window(given, to);
  } else if constexpr (shape.kind == Kind::frequent_events) {
    to = {};
    return for_each_word(given, [&](std::string_view word) { return leave_out(to, word); });
  } else if constexpr (shape.kind == Kind::ranks) {
    return for_each_word(given, is_range) && copy_whole(given, to);
  } else if constexpr (shape.kind == Kind::phase) {
    return is_phase(given) && copy_whole(given, to);
  } else {
    return copy_whole(given, to);
  }
}

/// The value of `given`, or, if that is empty or makes no sense, the row's initial value.
template <Setting setting>
constexpr void read_or_initial(std::string_view given, ValueOf<setting>& to) {
  if (!given.empty() && read_setting<setting>(given, to)) return;
  if constexpr (std::is_array_v<ValueOf<setting>>) {
    to[0] = '\0';
  } else {
    to = {};
  }
  if (!text(setting).initial.empty()) read_setting<setting>(text(setting).initial, to);
}

// --- All that the measured program reads. ---

#define CULPRIT_OF_culprit(id)
#define CULPRIT_OF_program(id) CULPRIT_EACH(id)
#define SETTING(id, reader, ...) CULPRIT_OF_##reader(id)
#define HANDED_ON(id, ...) CULPRIT_EACH(id)

struct ProgramSettings {
#define CULPRIT_EACH(id) ValueOf<Setting::id> id{};
#include "base/settings.def"
#undef CULPRIT_EACH
};

/// `get(variable)` returns what the environment has, or null.
template <class Get>
constexpr void read_program_settings(Get&& get, ProgramSettings& to) {
#define CULPRIT_EACH(id)                                    \
  if (const char* given = get(variable(Setting::id)); true) \
    read_or_initial<Setting::id>(given == nullptr ? std::string_view() : given, to.id);
#include "base/settings.def"
#undef CULPRIT_EACH
}

#undef SETTING
#undef HANDED_ON
#undef CULPRIT_OF_program
#undef CULPRIT_OF_culprit

}  // namespace culprit
