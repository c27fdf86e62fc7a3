// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Programs and archives name things with any bytes, Fortran's in Latin-1. Files that culprit writes
// (XML, CSV, JSON, SQLite) hold text in UTF-8, and a name must be the same in all of them.
#pragma once

#include "trace/definitions.h"

namespace culprit::trace {

inline constexpr const char* kUnnamed = "(unnamed)";

/// Writes bytes that are not UTF-8 as escapes ("gr\xf6\xdfe") in all names and texts. A region
/// without a name becomes kUnnamed. To be called last by code that makes definitions.
void make_names_valid(Definitions& definitions);

}  // namespace culprit::trace
