// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Where each thread of a run is, stuck or not: for a run that seems to hang although some thread
// may still go on.
#pragma once

#include <string>
#include <vector>

#include "assemble/run_facts.h"
#include "assemble/stuck/processes_at_end.h"
#include "assemble/stuck/wait_graph.h"

namespace culprit::assemble::stuck {

/// Functions of the user from the program's down to the call, as the report's call paths are named.
struct Where {
  std::string callpath;
  std::string function;  ///< of the user, the innermost; empty if unknown
  std::string place;     ///< "file.c:12" of the call; empty if unknown
};
/// `addresses`: innermost first.
Where where(const ProcessCode& code, const std::vector<uint64_t>& addresses,
            const std::string& call);

std::string name_of(const OpenCall& call);
/// "rank 3", "rank 3, thread 1".
std::string name_of(const EndedRun& run, const std::vector<ProcessEnd>& processes, size_t lane);

/// Where a thread was at the end: "MPI_Recv (halo.c:12, in exchange)", "relax (solve.c:7)"; empty
/// if unknown.
std::string last_place(const EndedRun& run, const ThreadEnd& end,
                       const std::vector<ProcessEnd>& processes, size_t lane);

/// Places of all threads but those that wait for work, or have ended. `now`: when the run ended, or
/// was looked at.
std::vector<Whereabouts> everybody(const EndedRun& run, const std::vector<ThreadEnd>& ends,
                                   const std::vector<ProcessEnd>& processes,
                                   const std::vector<Node>& nodes);

}  // namespace culprit::assemble::stuck
