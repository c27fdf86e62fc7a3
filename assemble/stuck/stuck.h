// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

//  Which threads were stuck when the records end, and why: the passes in order.
//      end_of             the open calls of each thread
//      add_looks          the system's data on threads without any
//      processes_at_end   added up by process: requests, operations done together
//      open_messages      which messages meet
//      nodes_of           the needs of each open call
//      find_stuck         whose needs are never met
//      everybody          where each thread is
//      first_death        which process died first, and of what
//    It works for a run that goes on as well: its logs can be read at any moment.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "assemble/run_facts.h"
#include "assemble/stuck/processes_at_end.h"

namespace culprit::assemble::stuck {

struct Found {
  std::vector<StuckGroup> groups;  ///< deadlocks first; empty if all threads could go on
  /// The location that each waits for at the end, stuck or not. The one a stuck location waits for
  /// may be gone.
  std::map<LocationId, LocationId> awaited;
  std::vector<Whereabouts> everybody;  ///< threads that have not ended
  std::string death;  ///< a sentence on the process that died first; empty if none did
};

Found find(EndedRun run);

}  // namespace culprit::assemble::stuck
