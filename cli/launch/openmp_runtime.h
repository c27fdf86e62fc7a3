// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// LLVM's OpenMP runtime, which culprit substitutes in programs built by gcc: libgomp has no tool
// interface that reports the activity of its threads.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

namespace culprit::cli {

struct OpenmpRuntime {
  std::filesystem::path library;  ///< absolute, symbolic links resolved
  int llvm_major = 0;             ///< 0 if its place does not tell
};

/// All that are found: next to culprit, where LLVM's packages put them, in the linker's cache. The
/// one to use comes first: the one beside culprit, then the newest.
std::vector<OpenmpRuntime> find_openmp_runtimes();

/// The one to use, if any.
std::optional<OpenmpRuntime> best_openmp_runtime();

}  // namespace culprit::cli
