// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Facts in the form of raw records (facts.h, trace/raw/records.def).

#include "collector/mpi/facts.h"

namespace culprit::collector::mpi {
namespace {

uint64_t both_sets(const CollectiveFacts& collective) {
  return static_cast<uint32_t>(collective.sends_to) |
         static_cast<uint64_t>(collective.receives_from) << 32;
}

/// The number by which the two ends find each other; 0 if they are matched in order.
uint64_t number_of(const MessageFacts& message) {
  return message.matching == trace::RawMatching::in_order ? 0 : message.number;
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

void put_send(ThreadLog& log, uint64_t time, const MessageFacts& message) {
  log.put(
      time,
      raw::mpi_send{
          .comm = message.comm, .peer = message.peer, .tag = message.tag, .bytes = message.bytes});
}

void put_recv(ThreadLog& log, uint64_t time, const MessageFacts& message) {
  log.put(time, raw::mpi_recv{.comm = message.comm,
                              .matching = message.matching,
                              .peer = message.peer,
                              .tag = message.tag,
                              .bytes = message.bytes,
                              .number = number_of(message)});
}

void put_irecv(ThreadLog& log, uint64_t time, const MessageFacts& message, uint64_t request) {
  log.put(time, raw::mpi_irecv{.comm = message.comm,
                               .matching = message.matching,
                               .peer = message.peer,
                               .tag = message.tag,
                               .bytes = message.bytes,
                               .request = request,
                               .number = number_of(message)});
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
  log.put(time, raw::mpi_irecv_post{.comm = message.comm,
                                    .request = request,
                                    .source = asked_source(message.peer),
                                    .tag = asked_tag(message.tag),
                                    .handle = handle});
}

void put_icoll_post(ThreadLog& log, uint64_t time, const CollectiveFacts& collective,
                    uint64_t request, uint64_t handle) {
  log.put(time,
          raw::mpi_icoll_post{
              .comm = collective.comm, .op = collective.op, .request = request, .handle = handle});
}

int32_t asked_source(int source) {
  return source == MPI_ANY_SOURCE ? trace::kRawAny : source;
}

int32_t asked_tag(int tag) {
  return tag == MPI_ANY_TAG ? trace::kRawAny : tag;
}

void put_collective(ThreadLog& log, uint64_t time, const CollectiveFacts& collective) {
  log.put(time, raw::mpi_collective{.comm = collective.comm,
                                    .op = collective.op,
                                    .root = collective.root,
                                    .sent = collective.sent,
                                    .received = collective.received,
                                    .sets = both_sets(collective)});
}

void await(CallRegion& region, const CollectiveFacts& collective) {
  region.awaits(trace::RawAwaits::collective, collective.comm,
                {collective.root, static_cast<uint64_t>(collective.op), both_sets(collective)});
}

void put_icollective(ThreadLog& log, uint64_t time, const CollectiveFacts& collective,
                     uint64_t request) {
  log.put(time, raw::mpi_icoll{.comm = collective.comm,
                               .op = collective.op,
                               .root = collective.root,
                               .sent = collective.sent,
                               .received = collective.received,
                               .request = request,
                               .sets = both_sets(collective)});
}

}  // namespace culprit::collector::mpi
