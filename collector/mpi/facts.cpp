// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Facts in the form of raw records (facts.h, trace/raw/raw.h).

#include "collector/mpi/facts.h"

namespace culprit::collector::mpi {
namespace {

uint64_t peer_and_tag(const MessageFacts& message) {
  return static_cast<uint32_t>(message.peer) |
         static_cast<uint64_t>(static_cast<uint32_t>(message.tag)) << 32;
}

uint64_t both_sets(const CollectiveFacts& collective) {
  return static_cast<uint32_t>(collective.sends_to) |
         static_cast<uint64_t>(collective.receives_from) << 32;
}

}  // namespace

uint64_t bytes_of(int64_t count, MPI_Datatype type) {
  if (count <= 0 || type == MPI_DATATYPE_NULL) return 0;
  MPI_Count size = 0;
  if (PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size <= 0) return 0;
  return static_cast<uint64_t>(count) * static_cast<uint64_t>(size);
}

MessageFacts message_of(uint32_t comm, const MPI_Status& status) {
  MPI_Count bytes = 0;
  if (PMPI_Get_elements_x(&status, MPI_BYTE, &bytes) != MPI_SUCCESS || bytes < 0) bytes = 0;
  MessageFacts message;
  message.comm = comm;
  message.peer = status.MPI_SOURCE;
  message.tag = status.MPI_TAG;
  message.bytes = static_cast<uint64_t>(bytes);
  return message;
}

/// By which the two ends find each other; 0 if in order.
static uint64_t number_of(const MessageFacts& message) {
  return message.matching == trace::RawMatching::in_order ? 0 : message.number;
}

void put_message(ThreadLog& log, RawKind kind, uint64_t time, const MessageFacts& message) {
  const auto matching = static_cast<uint16_t>(message.matching);
  if (matching == 0) {
    log.put(kind, time, 0, message.comm, peer_and_tag(message), message.bytes);
  } else {
    log.put(kind, time, matching, message.comm, peer_and_tag(message), message.bytes,
            message.number);
  }
}

void put_message(ThreadLog& log, RawKind kind, uint64_t time, const MessageFacts& message,
                 uint64_t request) {
  const auto matching = static_cast<uint16_t>(message.matching);
  if (matching == 0) {
    log.put(kind, time, 0, message.comm, peer_and_tag(message), message.bytes, request);
  } else {
    log.put(kind, time, matching, message.comm, peer_and_tag(message), message.bytes, request,
            message.number);
  }
}

void put_isend(ThreadLog& log, uint64_t time, const MessageFacts& message, uint64_t request,
               uint64_t handle) {
  log.put(time, raw::mpi_isend{.comm = message.comm,
                               .matching = message.matching,
                               .peer = message.peer,
                               .tag = message.tag,
                               .bytes = message.bytes,
                               .request = request,
                               .handle = handle,
                               .number = number_of(message)});
}

void put_irecv_post(ThreadLog& log, uint64_t time, const MessageFacts& message, uint64_t request,
                    uint64_t handle) {
  log.put(RawKind::mpi_irecv_post, time, 0, message.comm, request,
          asked_for(message.peer, message.tag), handle);
}

void put_icoll_post(ThreadLog& log, uint64_t time, const CollectiveFacts& collective,
                    uint64_t request, uint64_t handle) {
  log.put(RawKind::mpi_icoll_post, time, static_cast<uint16_t>(collective.op), collective.comm,
          request, handle);
}

uint64_t asked_for(int peer, int tag) {
  const int32_t source = peer == MPI_ANY_SOURCE ? trace::kRawAny : peer;
  const int32_t wanted = tag == MPI_ANY_TAG ? trace::kRawAny : tag;
  return static_cast<uint32_t>(source) | static_cast<uint64_t>(static_cast<uint32_t>(wanted)) << 32;
}

void put_collective(ThreadLog& log, uint64_t time, const CollectiveFacts& collective) {
  const auto op = static_cast<uint16_t>(collective.op);
  const uint64_t sets = both_sets(collective);
  if (sets == 0) {
    log.put(RawKind::mpi_collective, time, op, collective.comm, collective.root, collective.sent,
            collective.received);
  } else {
    log.put(RawKind::mpi_collective, time, op, collective.comm, collective.root, collective.sent,
            collective.received, sets);
  }
}

void await(Region& region, const CollectiveFacts& collective) {
  region.awaits(trace::RawAwaits::collective, collective.comm,
                {collective.root, static_cast<uint64_t>(collective.op), both_sets(collective)});
}

void put_icollective(ThreadLog& log, uint64_t time, const CollectiveFacts& collective,
                     uint64_t request) {
  const uint64_t words[] = {collective.root, collective.sent, collective.received, request,
                            both_sets(collective)};
  const unsigned count = words[4] == 0 ? 4 : 5;
  log.put_words(RawKind::mpi_icoll, time, static_cast<uint16_t>(collective.op), collective.comm,
                words, count);
}

}  // namespace culprit::collector::mpi
