// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Experiments made by hand for the fuzzing of folders to begin with, each packed into a file.
#pragma once

#include <filesystem>

#include "tests/fuzz/folder_pack.h"

namespace culprit::fuzz {

/// `scratch`: a folder to be made, in which they are put together.
void write_folder_seeds(const std::filesystem::path& folder, const std::filesystem::path& scratch);

/// One of a real run, which stays as it is.
void write_folder_seed(const std::filesystem::path& experiment, const std::filesystem::path& folder,
                       const std::filesystem::path& scratch);

}  // namespace culprit::fuzz
