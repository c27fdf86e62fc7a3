// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a Paraver trace holds, thread by thread: its lines are in the order of time, of all threads
// at once. Only what the importer uses is kept, as numbers.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "base/result.h"
#include "trace/imported/packed_file.h"
#include "trace/paraver/header.h"

namespace culprit::trace {

enum class EventMeaning : uint8_t {
  unknown,
  ignored,
  mpi_call,
  sent_bytes,
  received_bytes,
  is_root,
  communicator,
  parallel,
  parallel_function,
  barrier,
  taskwait,
  user_function,
  device_call,
  device_copy,
  kernel,
  caller,
  caller_line,
};

EventMeaning meaning_of_event(uint64_t type);

/// Times are nanoseconds.
struct ParaverEvent {
  int64_t time = 0;
  uint64_t value = 0;
  uint32_t type = 0;
  EventMeaning meaning = EventMeaning::unknown;
};

struct ParaverThread {
  uint32_t application = 0, task = 0, thread = 0;  ///< counted from 1
  std::vector<ParaverEvent> events;                ///< in order of time
  int64_t first = std::numeric_limits<int64_t>::max();
  int64_t last = std::numeric_limits<int64_t>::min();
};

struct ParaverMessage {
  uint32_t sender = 0, receiver = 0;  ///< positions among the threads
  int32_t tag = 0;
  int64_t sent = 0;      ///< when the call that sends began
  int64_t posted = 0;    ///< likewise of the one that posts the receive
  int64_t received = 0;  ///< when the call that completed the receive ended
  uint64_t bytes = 0;
};

struct ParaverCommunicator {
  uint32_t application = 0;
  uint64_t number = 0;
  std::vector<uint32_t> tasks;  ///< by rank in it
};

struct ParaverRecords {
  ParaverHeader header;
  std::vector<ParaverThread> threads;
  std::vector<ParaverMessage> messages;
  std::vector<ParaverCommunicator> communicators;
  std::map<uint64_t, uint64_t> skipped_types;  ///< events, by type
  uint64_t bad_lines = 0;
  bool cut = false;
};

/// Errors: no header, or more than `most` events and messages.
Result<ParaverRecords> read_paraver_records(PackedFile& file, uint64_t most);

}  // namespace culprit::trace
