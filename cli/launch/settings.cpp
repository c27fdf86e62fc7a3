// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// An option takes precedence over a variable. An invalid value is refused with a sentence that says
// which values are valid.
#include "cli/launch/settings.h"

#include <fmt/format.h>

#include <string_view>

namespace culprit::cli {
namespace {

/// Whether the collector could read it.
bool makes_sense(Setting setting, std::string_view given) {
  switch (setting) {
#define SETTING(id, ...)                           \
  case Setting::id: {                              \
    ValueOf<Setting::id> read{};                   \
    return read_setting<Setting::id>(given, read); \
  }
#define HANDED_ON(id, ...) SETTING(id)
#include "base/settings.def"
#undef SETTING
#undef HANDED_ON
  }
  return false;
}

/// "--jobs" of "-j,--jobs"; the variable where there is no option.
std::string_view name_for_people(const SettingText& row) {
  const std::string_view option = row.option;
  return row.has_option() ? option.substr(option.rfind(',') + 1) : row.variable;
}

std::string names_of_frequent_events() {
  std::string names;
  for (const FrequentText& row : kFrequentEvents)
    names += fmt::format("{}{}", names.empty() ? "" : ",", row.name);
  return names;
}

std::string_view first_unknown(std::string_view events) {
  std::string_view unknown;
  for_each_word(events, [&](std::string_view word) {
    Without ignored;
    unknown = word;
    return leave_out(ignored, word);
  });
  return unknown;
}

/// Returns the error about an invalid value, to follow the setting's name.
std::string complaint(const Shape& shape, std::string_view given) {
  using Kind = Shape::Kind;
  const auto is_not = [&](const std::string& what) {
    return fmt::format("'{}' is not {}", given, what);
  };
  switch (shape.kind) {
    case Kind::number:
      return is_not(fmt::format("a number from {} to {}", shape.least, shape.most));
    case Kind::size:
      return is_not("a size in bytes: write it as 2G or 500M");
    case Kind::choice:
      return is_not("one of " + listed(shape.words));
    case Kind::window:
      return is_not("a time window: write it as 10s..60s, 10s.. or ..1m, from the program's start");
    case Kind::ranks:
      return is_not("a list of ranks: write it as 0-3,8");
    case Kind::phase:
      return is_not("a phase: write its name, or NAME:n-m for some of its visits or iterations");
    case Kind::frequent_events:
      given = first_unknown(given);
      return is_not("one of " + listed(names_of_frequent_events()));
    case Kind::flag:
    case Kind::text:
    case Kind::path:
      break;
  }
  return fmt::format("more than the {} characters that there is room for", shape.capacity - 1);
}

}  // namespace

std::string listed(std::string_view words) {
  std::string list;
  for_each_word(words, [&](std::string_view word) {
    const bool last = word.data() + word.size() == words.data() + words.size();
    list += fmt::format("{}{}", list.empty() ? "" : last ? " and " : ", ", word);
    return true;
  });
  return list;
}

void GivenSettings::take_variables(const Environment& environment) {
  for (size_t i = 0; i < kSettings.size(); ++i) {
    const SettingText& row = kSettings[i];
    if (row.reader != SettingReader::program || row.has_option() || row.handed_on) continue;
    texts_[i] = environment(row.variable);
  }
}

Result<void> GivenSettings::check() const {
  for (size_t i = 0; i < kSettings.size(); ++i) {
    const SettingText& row = kSettings[i];
    if (texts_[i].empty() || makes_sense(Setting(i), texts_[i])) continue;
    return Error{fmt::format("{}: {}", name_for_people(row), complaint(row.shape, texts_[i]))};
  }
  return {};
}

std::vector<std::pair<Setting, std::string>> GivenSettings::for_program() const {
  std::vector<std::pair<Setting, std::string>> given;
  for (size_t i = 0; i < kSettings.size(); ++i) {
    if (kSettings[i].reader != SettingReader::program || texts_[i].empty()) continue;
    given.emplace_back(Setting(i), texts_[i]);
  }
  return given;
}

}  // namespace culprit::cli
