// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Databases of AMD's rocprofv3 (`--output-format rocpd`): one file a process.
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "base/sqlite/sqlite.h"
#include "trace/imported/process.h"

namespace culprit::trace {

/// Whether the database is one of rocprofv3's.
bool is_rocpd(Database& database);

/// The processes in it. Errors, one sentence each: it lacks what waits are found by, or is of a
/// version that is not known.
Result<std::vector<ImportedProcess>> read_rocpd(const std::filesystem::path& file,
                                                Database& database);

}  // namespace culprit::trace
