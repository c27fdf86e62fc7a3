// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Reports of NVIDIA's Nsight Systems, exported as SQLite (`nsys export --type sqlite`): one file a
// rank, or one with several processes.
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "base/sqlite/sqlite.h"
#include "trace/imported/process.h"

namespace culprit::trace {

/// The processes in it. Errors, one sentence each: it is no such export, or lacks what waits are
/// found by.
Result<std::vector<ImportedProcess>> read_nsight(const std::filesystem::path& file,
                                                 Database& database);

}  // namespace culprit::trace
