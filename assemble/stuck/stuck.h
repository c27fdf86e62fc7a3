// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Who was stuck when the records end, and for whom: the passes in order.
//   end_of             what each thread was in
//   add_looks          what the system says of those that were in nothing
//   processes_at_end   added up by process: requests, operations done together
//   open_messages      which messages meet
//   nodes_of           what each open call needs
//   find_stuck         who never gets it
//   everybody          where each is
// A run that goes on may be asked as well: its logs can be read at any moment.
#pragma once

#include <map>
#include <vector>

#include "assemble/run_facts.h"
#include "assemble/stuck/processes_at_end.h"

namespace culprit::assemble::stuck {

struct Found {
  std::vector<StuckGroup> groups;  ///< deadlocks first; empty where everybody could go on
  /// For whom a location waits at the end, stuck or not. Whom a stuck one waits for may be gone.
  std::map<LocationId, LocationId> awaited;
  std::vector<Whereabouts> everybody;  ///< who has not ended
};

Found find(EndedRun run);

}  // namespace culprit::assemble::stuck
