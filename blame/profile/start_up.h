// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which code starts or ends the program: MPI_Init and MPI_Finalize, contexts of devices, the
// building of what they execute. In short runs it is most of everything, and nothing that a program
// could do better, so it is a class of its own. A call path belongs to it if any of its regions
// does, whatever is called in there; and so does the time before a process starts. What such a call
// path causes is start-up, wherever it is waited for; what other code causes is not, even if
// MPI_Finalize is where it is waited for (docs/decisions/0017-start-up-apart.md). But the wait of
// processes in MPI_Init for one that comes late is: what that one did before is no steady state.
#pragma once

#include <string_view>
#include <vector>

#include "blame/findings/findings.h"
#include "replay/model/run.h"

namespace culprit::blame {

/// Is this function there to start or end the program, or what it uses?
bool starts_or_ends(std::string_view function);

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

/// What is not attributed of all other waiting.
double own_unattributed_s(const Findings& findings);

/// Sums over the rows of joined findings, whose call paths say which are start-up.
StartUp sum_start_up(const Findings& findings);

}  // namespace culprit::blame
