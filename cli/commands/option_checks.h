// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Checks of options beyond those of their types, and an option of several commands. A name that is
// empty, because a script's variable was empty, would choose everything.
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <string>

namespace culprit::cli {

inline CLI::Validator not_empty() {
  return CLI::Validator(
      [](const std::string& text) { return text.empty() ? "is empty" : std::string(); }, "");
}

/// A number of seconds from the run's begin, or as long as that: none is less than 0, or endless.
inline CLI::Validator some_seconds() {
  return CLI::Validator(
      [](const std::string& text) -> std::string {
        double value = 0;
        const char* const end = text.data() + text.size();
        const auto read = std::from_chars(text.data(), end, value);
        const bool good = read.ec == std::errc() && read.ptr == end && value >= 0;
        return good && std::isfinite(value) ? "" : "'" + text + "' is no number of seconds";
      },
      "");
}

/// How many: 0, 1, ...
inline CLI::Validator some_number() {
  return CLI::Validator(
      [](const std::string& text) -> std::string {
        const bool digits =
            !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
        return digits ? "" : "expected a non-negative integer, got '" + text + "'";
      },
      "");
}

/// Adds the option that asks for the whole page.
inline void add_full(CLI::App& command, bool& full) {
  command.add_flag("--full", full, "the whole report, not only its first screen");
}

}  // namespace culprit::cli
