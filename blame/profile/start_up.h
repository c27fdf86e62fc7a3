// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which code starts or ends the program: MPI_Init and MPI_Finalize, contexts of devices, the
// building of device code. In short runs this is most of the time, and a program cannot improve it,
// so it is a class of its own. A call path belongs to it if any of its regions does, whatever is
// called in there; and so does the time before a process starts. Waits that such a call path causes
// are start-up, wherever they are; waits that other code causes are not, even if they are in
// MPI_Finalize (docs/decisions/0017-start-up-apart.md). But the wait of processes in MPI_Init for
// one that comes late is: what that one did before is no steady state.
#pragma once

#include <string_view>
#include <vector>

#include "blame/findings/findings.h"
#include "replay/model/run.h"

namespace culprit::blame {

/// Returns whether the purpose of this function is to start or end the program or its libraries.
bool starts_or_ends(const trace::Region& region);

/// By CallPathId.
std::vector<bool> start_up_paths(const replay::Run& run);

/// Waiting of this pattern is start-up, whatever causes it: processes wait for each other to start.
inline constexpr std::string_view kStartSkew = "run.start_skew";

/// Whether a row of delays, or of victims, belongs to it.
inline bool is_of_start_up(const Findings& findings, CallPathId delay, std::string_view pattern) {
  return pattern == kStartSkew || (delay.valid() && findings.callpaths[delay.index()].start_up);
}
inline bool is_of_start_up(const Findings& findings, const FoundDelay& row) {
  return is_of_start_up(findings, row.callpath, row.pattern);
}

/// Returns the unattributed part of all waiting that is not start-up.
double own_unattributed_s(const Findings& findings);

/// Sums over the rows of joined findings, whose call paths say which are start-up.
StartUp sum_start_up(const Findings& findings);

}  // namespace culprit::blame
