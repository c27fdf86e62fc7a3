// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the system counts since it was started: time of each core (/proc/stat), of each process
// (/proc/<pid>/stat) and of a control group whose quota was used up (cpu.stat, of either version).
// The texts come as arguments, so that any of them can be tried.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace culprit::assemble::machine {

struct CoreCounts {
  uint64_t busy_ns = 0;
  uint64_t idle_ns = 0;
  uint64_t steal_ns = 0;
};

/// Counts of the cores in `which`, from the text of /proc/stat, with the nanoseconds of a tick.
CoreCounts count_cores(std::string_view stat, const std::set<unsigned>& which, uint64_t tick_ns);

struct ProcessCount {
  uint32_t pid = 0;
  uint32_t parent = 0;
  std::string name;
  uint64_t cpu_ns = 0;
  uint64_t started = 0;  ///< in ticks: numbers of processes are used again
  int core = -1;         ///< on which it was last
  bool of_kernel = false;
};

/// From the text of a /proc/<pid>/stat.
std::optional<ProcessCount> count_process(std::string_view stat, uint64_t tick_ns);

/// How long the quota of a control group, or of one around it, kept its threads from their cores.
/// `groups`: the text of /proc/self/cgroup. `read`: the text of a file, below where control groups
/// are mounted (/sys/fs/cgroup).
uint64_t throttled_ns(std::string_view groups,
                      const std::function<std::optional<std::string>(const std::string&)>& read);

}  // namespace culprit::assemble::machine
