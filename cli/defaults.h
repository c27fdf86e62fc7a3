// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Defaults of a site and of a user, from files that hold lines like `sampling = 50`: the names are
// those of settings (base/settings.def). They count where neither an option nor a variable says
// anything.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/settings.h"
#include "cli/launcher.h"

namespace culprit::cli {

/// Where defaults may stand, those that come first before those that follow: of the user
/// (XDG_CONFIG_HOME), of the machine (XDG_CONFIG_DIRS), and of this installation.
std::vector<std::filesystem::path> default_files(const Environment& environment,
                                                 const std::filesystem::path& program_folder);

/// The settings in the text of such a file. Error: a line that says nothing known; it is named.
Result<std::vector<std::pair<Setting, std::string>>> parse_defaults(std::string_view text);

/// Puts the defaults into the variables that nobody has set. Files that cannot be understood are
/// left out with a warning.
void take_defaults();

}  // namespace culprit::cli
