// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The settings by number, and what their values look like. The table is settings.def. For culprit
// and for what lives in measured programs: nothing here allocates or throws.
#pragma once

#include <array>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace culprit {

enum class Setting : uint8_t {
#define SETTING(id, ...) id,
#define HANDED_ON(id, ...) id,
#include "base/settings.def"
#undef SETTING
#undef HANDED_ON
};

enum class SettingReader : uint8_t {
  culprit,  ///< the command line
  program,  ///< the collector and its probes, in the measured program
};

struct Shape {
  enum class Kind : uint8_t {
    flag,             ///< "1", "0"
    number,           ///< of `least` to `most`
    size,             ///< bytes, "2G"
    choice,           ///< one of `words`
    window,           ///< a stretch of time: "10s..1m"
    ranks,            ///< "0-3,8"
    phase,            ///< "solve", "step:10-20"
    frequent_events,  ///< names of frequent_events.def, separated by commas
    text,
    path,
  };
  Kind kind = Kind::text;
  uint64_t least = 0;
  uint64_t most = 0;
  std::string_view words = {};
  size_t capacity = 0;  ///< of texts: the characters that there is room for, with the end
};

/// The shapes that rows of settings.def have.
namespace shapes {

constexpr Shape flag() {
  return {Shape::Kind::flag};
}
constexpr Shape number(uint64_t least, uint64_t most) {
  return {Shape::Kind::number, least, most};
}
constexpr Shape size() {
  return {Shape::Kind::size};
}
constexpr Shape choice(std::string_view words) {
  return {Shape::Kind::choice, 0, 0, words};
}
constexpr Shape window() {
  return {Shape::Kind::window};
}
constexpr Shape ranks() {
  return {Shape::Kind::ranks, 0, 0, {}, 1024};
}
constexpr Shape phase() {
  return {Shape::Kind::phase, 0, 0, {}, 256};
}
constexpr Shape frequent_events() {
  return {Shape::Kind::frequent_events};
}
constexpr Shape text(size_t capacity) {
  return {Shape::Kind::text, 0, 0, {}, capacity};
}
constexpr Shape path() {
  return {Shape::Kind::path, 0, 0, {}, PATH_MAX};
}

}  // namespace shapes

/// A row of settings.def, which explains the columns.
struct SettingText {
  const char* id;
  SettingReader reader;
  Shape shape;
  std::string_view initial;
  const char* option;
  const char* variable;
  const char* help;
  bool handed_on;  ///< by culprit; users do not say it

  constexpr bool has_option() const { return *option != '\0'; }
};

inline constexpr std::array kSettings = {
#define SETTING(id, reader, shape, initial, option, variable, help) \
  SettingText{#id, SettingReader::reader, shapes::shape, initial, option, variable, help, false},
#define HANDED_ON(id, shape, variable, help) \
  SettingText{#id, SettingReader::program, shapes::shape, "", "", variable, help, true},
#include "base/settings.def"
#undef SETTING
#undef HANDED_ON
};

constexpr const SettingText& text(Setting setting) {
  return kSettings[static_cast<size_t>(setting)];
}

constexpr const char* variable(Setting setting) {
  return text(setting).variable;
}

/// Calls `visit(word)` for the parts of a list that commas separate, until it returns false.
/// Returns the last result.
template <class Visit>
constexpr bool for_each_word(std::string_view list, Visit&& visit) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    if (!visit(list.substr(0, comma))) return false;
    if (comma == list.npos) break;
    list.remove_prefix(comma + 1);
  }
  return true;
}

}  // namespace culprit
