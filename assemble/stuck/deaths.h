// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which process of a run died first, of what, and where it was. A launcher ends all others then,
// with another signal or a moment later, and returns one status for all of them.
#pragma once

#include <string>
#include <vector>

#include "assemble/stuck/processes_at_end.h"

namespace culprit::assemble::stuck {

/// "Rank 1 died first, of signal 9 (SIGKILL) at 30.10 s, in solve (a.c:3)." Empty if all came to
/// their end, or it is not known who was first.
std::string first_death(const EndedRun& run, const std::vector<ThreadEnd>& ends,
                        const std::vector<ProcessEnd>& processes);

}  // namespace culprit::assemble::stuck
