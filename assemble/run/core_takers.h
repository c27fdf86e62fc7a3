// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Who had the cores that threads of the run lacked: what its processes say of themselves
// (RawKind::cores_had), held against what was seen on their machines meanwhile
// (assemble/machine/). In each interval the time without a core is shared out, in this order, as
// far as it goes: what a quota withheld, what the hypervisor took, CPU time of other programs, of
// helpers; of the rest, what a process wanted beyond the few cores that it may use is its binding,
// and the others are too many themselves.
#pragma once

#include <vector>

#include "assemble/machine/machine_use.h"
#include "assemble/run/accounts.h"
#include "assemble/run/clock.h"
#include "assemble/run/processes.h"
#include "assemble/run_facts.h"

namespace culprit::assemble {

/// What the processes of one machine had and wanted while it was watched, in one interval of it.
struct ProcessDemand {
  double on_core_ns = 0;
  double without_ns = 0;
  uint64_t cores = 0;  ///< that it may use; 0: unknown
};

/// Of one node; who took most first.
std::vector<CoreTaker> share_out(const machine::MachineUse& machine,
                                 const std::vector<std::vector<ProcessDemand>>& by_interval);

/// Fills in core_takers, core_times and tasks.
void find_core_takers(const std::vector<RawProcessFolder>& folders,
                      const std::vector<ProcessAccount>& accounts, const Processes& processes,
                      const Clock& clock, const std::vector<machine::MachineUse>& machines,
                      RunFacts& facts);

}  // namespace culprit::assemble
