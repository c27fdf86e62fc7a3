// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Why a program that ran has left no records: what the user can do about it, if anything.
#pragma once

#include <string>
#include <vector>

namespace culprit::cli {

/// A sentence. The program ended with `status`; `tried`: one of its processes wanted to record,
/// and was refused the files with `refusal`, an errno; 0: unknown.
std::string why_nothing_was_recorded(const std::vector<std::string>& command, int status,
                                     bool tried, int refusal);

}  // namespace culprit::cli
