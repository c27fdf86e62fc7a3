// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The texts of source files, looked for by their base names, which is what debug information gives
// of files that were compiled elsewhere.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace culprit::cli {

/// Of those of `names` that lie in or below one of `folders`, the texts by name. Of several files
/// of a name the first is taken, with a warning; links are not followed, and hidden folders not
/// searched.
std::map<std::string, std::string> find_sources(const std::vector<std::filesystem::path>& folders,
                                                const std::set<std::string>& names);

}  // namespace culprit::cli
