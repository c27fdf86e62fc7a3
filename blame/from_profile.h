// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// From a profile to findings: as far as sums by call path and thread can tell, with the same call
// paths, classes of time and efficiencies as the analysis of a trace. A profile has no single
// events. So it does not know who made whom wait across processes (late senders and the like), nor
// the critical path: those lists stay empty, the efficiencies that need waiting in MPI are left
// out, and a note says so.
#pragma once

#include "base/losses.h"
#include "base/result.h"
#include "blame/findings/findings.h"
#include "trace/profile.h"

namespace culprit::blame {

/// As analyze() does of a trace. Error if no location has any time.
Result<Findings> findings_of_profile(const trace::Profile& profile, unsigned threads,
                                     const Losses& losses);

}  // namespace culprit::blame
