// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The input for finding stuck threads: the locations of a run, the logs of those that left any, and
// the results of earlier passes (communicators and windows that all processes know by one number,
// code). And the processes, with the ends of their threads added up.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "assemble/look/thread_look.h"
#include "assemble/play/code.h"
#include "assemble/run/accounts.h"
#include "assemble/run/clock.h"
#include "assemble/run/comms/comms.h"
#include "assemble/run/objects.h"
#include "assemble/run/processes.h"
#include "assemble/stuck/thread_end.h"
#include "base/ids.h"

namespace culprit::assemble::stuck {

/// A thread that may have been doing something.
struct ThreadAtEnd {
  LocationId location;
  ProcessId process;
  uint32_t thread = 0;
  const RawLog* log = nullptr;  ///< nullptr: it left no records
  uint32_t tid = 0;             ///< for a thread without records that the system lists
};

struct EndedRun {
  const std::vector<RawProcessFolder>& folders;
  const Processes& processes;
  const std::vector<ProcessCode>& code;         ///< by folder
  const std::vector<ProcessAccount>& accounts;  ///< likewise
  const CommTable& comms;
  const ObjectTable& objects;
  const Clock& clock;
  std::vector<ThreadAtEnd> lanes;
  std::vector<std::optional<look::ProcessLook>> looks;  ///< by folder: at processes, as the last
                                                        ///< that could be had
  std::optional<Time> end = {};                         ///< or when it was looked at
  unsigned threads = 1;
};

/// A process when the records end.
struct ProcessEnd {
  std::optional<size_t> folder;  ///< none: it left no records, and its activity is unknown
  std::vector<size_t> lanes;     ///< of its threads, indices in Run::lanes
  bool gone = false;             ///< it has exited
  bool initialized = false;      ///< one of its threads has initialised MPI
  bool finalized = false;
  bool left_mpi = false;         ///< either
  std::vector<Pending> pending;  ///< in the order of their begin
  std::map<Channel, uint64_t> done;
  std::unordered_map<CommId, uint32_t> numbers;  ///< its own of each communicator
};

/// `ends` by lane.
std::vector<ProcessEnd> processes_at_end(const EndedRun& run, const std::vector<ThreadEnd>& ends);

}  // namespace culprit::assemble::stuck
