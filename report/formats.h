// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The forms in which findings can be shown. A new one is a file of its own with one function like
// these, and a line in formats.cpp; command line and help read the list.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "blame/findings/findings.h"

namespace culprit::report {

struct Format {
  std::string_view name;  ///< as in --format
  std::string_view summary;
  bool for_people;  ///< goes to a terminal in colours
  /// The whole report, ended by a newline. `experiment` is where the findings lie, for
  /// hints; empty: nowhere.
  std::string (*render)(const blame::Findings& findings, const std::filesystem::path& experiment);
};

/// All formats, the default first.
std::span<const Format> formats();

/// nullptr if there is none of that name.
const Format* find_format(std::string_view name);

/// The page for people: the first screen, or all of it.
const Format& page_format(bool full);

std::string screen(const blame::Findings& findings, const std::filesystem::path& experiment);
std::string text(const blame::Findings& findings, const std::filesystem::path& experiment);
std::string json(const blame::Findings& findings, const std::filesystem::path& experiment);

}  // namespace culprit::report
