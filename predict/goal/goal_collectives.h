// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Collective operations as messages, for simulators that only know messages. Traces do not record
// which algorithm a library used; these are the usual ones for short messages:
//
//   barrier, fence,         dissemination: in round k each to the one 2^k after it
//     making communicators
//   allreduce, allgather    recursive doubling, where there are 2^m members: in round k each with
//                           the one whose place differs in bit k; else dissemination. What is
//                           gathered doubles with each round
//   bcast, reduce           a binomial tree
//   scatter, gather         from the root to each, from each to the root
//   alltoall, reduce_scatter, neighbours, whatever some take no part in, inter-communicators
//                           from each to each that gets data from it, all at once
//   scan                    from each to the next
//
// Recorded sizes are sums over all pairs (in Score-P and culprit); here they are divided again.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "replay/match/collective_shapes.h"

namespace culprit::predict {

/// The message that one member sends or receives in one round; rounds of a member follow each
/// other.
struct Transfer {
  uint32_t from = 0, to = 0;  ///< places in the list of members
  uint64_t bytes = 0;
  uint32_t round = 0;
};

/// The bytes that a member sent and received, as in trace::MpiCollective.
struct CollectiveBytes {
  uint64_t sent = 0, received = 0;
};

/// Returns the messages of an operation, by round; none where no member waits for another. `bytes`:
/// those of each part.
std::vector<Transfer> transfers_of(const replay::CollectiveShapes& shapes,
                                   std::span<const replay::Part> parts,
                                   std::span<const CollectiveBytes> bytes);

}  // namespace culprit::predict
