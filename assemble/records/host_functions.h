// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Functions of the program that a queue calls (cudaLaunchHostFunc). Runtimes tell of them when they
// are handed over, not when they run: what is between the operations that surround one is taken to
// be its time, and no more than what a host waited for it.
#pragma once

#include <vector>

#include "assemble/device/devices.h"
#include "assemble/play/process_context.h"

namespace culprit::assemble {

struct HostFunctionRun {
  size_t before = 0;  ///< index in the lane of the operation that comes next
  trace::OperationNumber number = trace::OperationNumber::none;
  uint64_t address = 0;
  Time earliest;  ///< begin, if the lane has nothing else to do
  Time latest;    ///< end likewise: when a host had waited for it, or the next could begin
};

/// Those of the lane's queue, in order. Where it cannot be told how long one took, it has no time.
std::vector<HostFunctionRun> host_functions_of(const DeviceLane& lane,
                                               const ProcessContext& process);

}  // namespace culprit::assemble
