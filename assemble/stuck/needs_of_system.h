// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The needs of threads that are blocked in the system (needs.h): the owner of a lock, a thread that
// ends, or where any could help, as with conditions and semaphores, any other thread of the process
// that may still act. Events that come by themselves, or from elsewhere (timeouts, other processes,
// handlers of signals), are no needs.
#pragma once

#include <vector>

#include "assemble/stuck/processes_at_end.h"
#include "assemble/stuck/wait_graph.h"

namespace culprit::assemble::stuck {

class NeedsOfSystem {
 public:
  /// `parked`, by lane: workers that do nothing until their master opens a region.
  NeedsOfSystem(const EndedRun& run, const std::vector<ThreadEnd>& ends,
                const std::vector<ProcessEnd>& processes, const std::vector<bool>& parked)
      : run_(run), ends_(ends), processes_(processes), parked_(parked) {}

  /// The needs of a lane in a call of CallKind::thread or CallKind::system.
  std::vector<Need> of(size_t lane) const;

 private:
  std::vector<Need> for_thread(size_t lane, const ThreadWait& wait) const;
  std::vector<Need> for_owner(size_t lane, uint32_t owner, const std::string& object) const;
  std::vector<Need> for_anybody(size_t lane, const std::string& what) const;
  std::vector<Need> for_holders(size_t lane, const SystemWait& wait) const;

  const look::ProcessLook* look_at(size_t lane) const;
  bool is_alive(size_t lane, uint32_t tid) const;
  uint32_t tid(size_t lane) const;
  std::string thread(size_t lane) const;
  std::vector<size_t> others(size_t lane) const;
  std::optional<size_t> process_of(size_t lane, uint32_t pid) const;

  const EndedRun& run_;
  const std::vector<ThreadEnd>& ends_;
  const std::vector<ProcessEnd>& processes_;
  const std::vector<bool>& parked_;
};

/// The thread's number in the system; 0: unknown.
uint32_t system_number(const EndedRun& run, const std::vector<ThreadEnd>& ends, size_t lane);

}  // namespace culprit::assemble::stuck
