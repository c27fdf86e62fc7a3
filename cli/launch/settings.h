// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The settings (base/settings.def) as a user gives them, by option or variable: texts, checked
// before anything is started, and of those for the measured program handed on as they are.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/setting_values.h"
#include "cli/launcher.h"

namespace culprit::cli {

/// "a, b and c" of "a,b,c".
std::string listed(std::string_view words);

class GivenSettings {
 public:
  /// The user's value of a setting; empty: not given.
  std::string& operator[](Setting setting) { return texts_[static_cast<size_t>(setting)]; }
  const std::string& operator[](Setting setting) const {
    return texts_[static_cast<size_t>(setting)];
  }

  /// Takes those for the program that have no option.
  void take_variables(const Environment& environment);

  /// Error: one of them makes no sense.
  Result<void> check() const;

  template <Setting setting>
  ValueOf<setting> value() const {
    ValueOf<setting> read{};
    read_or_initial<setting>((*this)[setting], read);
    return read;
  }

  /// Returns the settings for the measured program.
  std::vector<std::pair<Setting, std::string>> for_program() const;

 private:
  std::array<std::string, kSettings.size()> texts_;
};

}  // namespace culprit::cli
