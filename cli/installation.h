// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The places of culprit's own parts: libraries in ../lib relative to the executable, both in the
// build tree and when installed.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace culprit::cli {

inline constexpr std::string_view kVersion = CULPRIT_VERSION;

/// The commit that this was built from, with "-dirty" if it was changed since; empty if unknown.
std::string_view commit();

/// "1.0.0 (commit 0123456789)".
std::string version_in_words();

/// The folder of the executable that is running.
std::filesystem::path own_folder();

/// ../lib beside it.
std::filesystem::path library_folder();

/// ../include beside it: culprit.h and culprit.f90.
std::filesystem::path include_folder();

/// Returns the absolute path for LD_PRELOAD that loads libculprit.so into a program. Error if it is
/// missing, or if its path cannot stand in LD_PRELOAD.
Result<std::filesystem::path> preload_library();

/// lib/libculprit-<name>.so; empty if culprit was built without.
std::filesystem::path device_probe(std::string_view name);

}  // namespace culprit::cli
