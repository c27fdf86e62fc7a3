// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Files and folders in places that others can write to, looked at without being led astray: never
// through a symbolic link that somebody else may have put there, never into a pipe that nobody
// fills. What is not what it should be is not there.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace culprit {

enum class Owner {
  anybody,  ///< links are followed, as users expect of files that they name themselves
  self,     ///< of this process's user, and no link
};

/// The whole content of a regular file; none if it is no such file or cannot be read.
std::optional<std::string> read_regular_file(const std::filesystem::path& file, Owner owner);

/// A regular file of this process's user, and no link.
bool is_own_file(const std::filesystem::path& file);

/// A folder of this process's user, and no link.
bool is_own_folder(const std::filesystem::path& folder);

}  // namespace culprit
