// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which other load had the cores that threads of the run lacked: the data of the run's processes
// (RawKind::cores_had), compared with looks at their machines (assemble/machine/). In each interval
// the time without a core is attributed, in this order, until none is left: to a quota, to the
// hypervisor, to CPU time of other programs, to helpers; of the rest, the time that a process
// wanted beyond the few cores that it may use is due to its binding, and the remainder to too many
// threads of the run.
#pragma once

#include <vector>

#include "assemble/machine/machine_use.h"
#include "assemble/run/accounts.h"
#include "assemble/run/clock.h"
#include "assemble/run/processes.h"
#include "assemble/run_facts.h"

namespace culprit::assemble {

/// Cores that the processes of one machine had and wanted, in one interval of watching it.
struct ProcessDemand {
  double on_core_ns = 0;
  double without_ns = 0;
  uint64_t cores = 0;  ///< that it may use; 0: unknown
};

/// The takers of one node; the largest first.
std::vector<CoreTaker> share_out(const machine::MachineUse& machine,
                                 const std::vector<std::vector<ProcessDemand>>& by_interval);

/// Fills in core_takers, core_times and tasks.
void find_core_takers(const std::vector<RawProcessFolder>& folders,
                      const std::vector<ProcessAccount>& accounts, const Processes& processes,
                      const Clock& clock, const std::vector<machine::MachineUse>& machines,
                      RunFacts& facts);

}  // namespace culprit::assemble
