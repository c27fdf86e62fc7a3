// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The MPI records of one thread as text, one line per call with its facts, without anything that
// differs from run to run (times, addresses, how often a test failed). Two programs that do the
// same have the same transcript, in whatever language and on whichever MPI.
#pragma once

#include <string>
#include <vector>

#include "tests/unit/collector/raw_files.h"

namespace culprit::tests {

/// Throws std::runtime_error if records are not where trace/raw/raw.h wants them: facts outside a
/// call, calls inside calls, a leave of another name.
std::vector<std::string> transcript(const RawThread& thread);

}  // namespace culprit::tests
