// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Findings as an SQLite file, `findings.db` of an experiment: so that a report needs no trace, and
// people may ask with SQL or pandas what no report shows. docs/findings-db.md describes the tables.
#pragma once

#include <filesystem>

#include "base/result.h"
#include "blame/findings/findings.h"

namespace culprit::report {

/// Writes `file` in one go: a reader sees the previous findings or these, never a half.
Result<void> save_findings(const blame::Findings& findings, const std::filesystem::path& file);

/// Errors: no such file, not a findings file, damaged, written by a newer culprit.
Result<blame::Findings> load_findings(const std::filesystem::path& file);

}  // namespace culprit::report
