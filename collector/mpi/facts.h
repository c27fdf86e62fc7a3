// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The facts of a message or a collective, ready for the record, and the records themselves. Bytes
// are counted when an operation is posted: its datatype may be gone when it completes.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "collector/mpi/groups/rank_set.h"
#include "collector/mpi/region.h"
#include "trace/events.h"

namespace culprit::collector::mpi {

struct MessageFacts {
  uint32_t comm = 0;
  int32_t peer = 0;
  int32_t tag = 0;
  uint64_t bytes = 0;
  trace::RawMatching matching = trace::RawMatching::in_order;
  uint64_t number = 0;  ///< its meaning follows from `matching`
};

inline constexpr uint64_t kNoRoot = ~uint64_t{0};

struct CollectiveFacts {
  trace::CollectiveOp op = trace::CollectiveOp::other;
  uint32_t comm = 0;
  uint64_t root = kNoRoot;
  uint64_t sent = 0;
  uint64_t received = 0;
  RankSet sends_to = RankSet::implied;
  RankSet receives_from = RankSet::implied;
};

/// Size in bytes of `count` elements of a type; 0 for the null type.
uint64_t bytes_of(int64_t count, MPI_Datatype type);

/// The message that a receive's status describes.
MessageFacts message_of(uint32_t comm, const MPI_Status& status);

void put_send(ThreadLog& log, uint64_t time, const MessageFacts& message);
void put_recv(ThreadLog& log, uint64_t time, const MessageFacts& message);
/// Records that a non-blocking receive is over.
void put_irecv(ThreadLog& log, uint64_t time, const MessageFacts& message, uint64_t request);
/// Records a send that has been posted; `handle`: 0 if MPI has not returned it yet.
void put_isend(ThreadLog& log, uint64_t time, const MessageFacts& message, uint64_t request,
               uint64_t handle);
/// Records a posted receive; of `message` only the requested source, tag and size count.
void put_irecv_post(ThreadLog& log, uint64_t time, const MessageFacts& message, uint64_t request,
                    uint64_t handle);
void put_icoll_post(ThreadLog& log, uint64_t time, const CollectiveFacts& collective,
                    uint64_t request, uint64_t handle);
/// A source and a tag as mpi_irecv_post has them; either may be MPI's "any".
int32_t asked_source(int source);
int32_t asked_tag(int tag);
void put_collective(ThreadLog& log, uint64_t time, const CollectiveFacts& collective);
/// Records that the coming call needs the members of a collective.
void await(CallRegion& region, const CollectiveFacts& collective);
void put_icollective(ThreadLog& log, uint64_t time, const CollectiveFacts& collective,
                     uint64_t request);

}  // namespace culprit::collector::mpi
