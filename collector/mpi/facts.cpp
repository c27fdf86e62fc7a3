// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Facts in the form of raw records (facts.h, trace/raw.h).

#include "collector/mpi/facts.h"

namespace culprit::collector::mpi {
namespace {

uint64_t peer_and_tag(const MessageFacts& message) {
  return static_cast<uint32_t>(message.peer) |
         static_cast<uint64_t>(static_cast<uint32_t>(message.tag)) << 32;
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
  return {comm, status.MPI_SOURCE, status.MPI_TAG, static_cast<uint64_t>(bytes)};
}

void put_message(ThreadLog& log, RawKind kind, uint64_t time, const MessageFacts& message) {
  log.put(kind, time, 0, message.comm, peer_and_tag(message), message.bytes);
}

void put_message(ThreadLog& log, RawKind kind, uint64_t time, const MessageFacts& message,
                 uint64_t request) {
  log.put(kind, time, 0, message.comm, peer_and_tag(message), message.bytes, request);
}

void put_collective(ThreadLog& log, uint64_t time, const CollectiveFacts& collective) {
  log.put(RawKind::mpi_collective, time, static_cast<uint16_t>(collective.op), collective.comm,
          collective.root, collective.sent, collective.received);
}

void put_icollective(ThreadLog& log, uint64_t time, const CollectiveFacts& collective,
                     uint64_t request) {
  log.put(RawKind::mpi_icoll, time, static_cast<uint16_t>(collective.op), collective.comm,
          collective.root, collective.sent, collective.received, request);
}

}  // namespace culprit::collector::mpi
