// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Parts that a program contains instead of loading them, or loads in place of those that culprit
// knows: calls of them cannot be observed from outside.
#pragma once

#include <string>

namespace culprit::assemble {

/// One sentence on why the program at `path` shows nothing, or nothing of OpenMP: it is linked
/// statically, runs on musl instead of GNU's C library, or contains libgomp (seen by its symbols).
/// Empty if that is not so, or unknown.
std::string static_parts_of(const std::string& path);

}  // namespace culprit::assemble
