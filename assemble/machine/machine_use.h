// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How the cores of a machine were used, interval by interval, while a program was measured on it:
// all processes together, those that have nothing to do with the run one by one, the hypervisor
// below the machine and the quota of the program's control group. Kept by the culprit that started
// the program (machine_keeper.h), since a process of the run would have to look at all others
// instead of working.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/files/guarded_path.h"

namespace culprit::assemble::machine {

struct ProcessUse {
  uint32_t pid = 0;
  std::string name;
  uint64_t cpu_ns = 0;
};

/// Between two moments, of the cores that the run may use.
struct Interval {
  uint64_t begin_ns = 0;      ///< CLOCK_MONOTONIC
  uint64_t end_ns = 0;        ///< likewise
  uint64_t busy_ns = 0;       ///< on all these cores, by any process
  uint64_t idle_ns = 0;       ///< likewise, by none
  uint64_t steal_ns = 0;      ///< the hypervisor gave them to other machines
  uint64_t throttled_ns = 0;  ///< the control group had used up its quota
  uint64_t helpers_ns = 0;    ///< CPU time of culprit and of what starts the program and serves it
  std::vector<ProcessUse> others{};  ///< that have nothing to do with the run; busiest first
};

struct MachineUse {
  std::string host;
  std::string boot_id;
  uint64_t cores = 0;               ///< cores of the machine that the run may use
  std::vector<Interval> intervals;  ///< one after the other
};

/// Joins two that follow each other.
void join(Interval& first, const Interval& second);

/// Below `raw`, one file for each host.
std::vector<MachineUse> read_machines(const GuardedPath& raw);
/// False if this host has one already: then another process keeps it.
bool begin_machine(const GuardedPath& raw, const MachineUse& use);
void write_machine(const GuardedPath& raw, const MachineUse& use);

}  // namespace culprit::assemble::machine
