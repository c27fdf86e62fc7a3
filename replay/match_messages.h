// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Sends meet receives in order, for every (communicator, source, destination, tag): MPI's
// non-overtaking rule, with receives in the order in which they were posted, or found by a matched
// probe. Partitioned messages meet among themselves, pair by pair of their requests.
//
// Where threads of one process post on the same channel at the same time, MPI itself leaves the
// order open. Then sizes and times may still say who met whom; what they do not settle is matched
// in the order of the calls, and counted.
#pragma once

#include "replay/run.h"

namespace culprit::replay {

/// Fills `partner` and `partner_op` of all sends and receives.
void match_messages(Run& run, unsigned threads, Losses& losses);

}  // namespace culprit::replay
