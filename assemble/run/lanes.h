// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The future locations: the threads of each process, and behind them the lanes of its devices. A
// rank without records has one all the same.
#pragma once

#include <cstdint>
#include <vector>

#include "assemble/device/run_devices.h"
#include "assemble/raw/reader.h"
#include "assemble/run/processes.h"
#include "base/ids.h"

namespace culprit::assemble {

struct Lane {
  ProcessId process;
  uint32_t thread = 0;                 ///< number in its process
  size_t folder = kNoFolder;           ///< of its process
  const RawLog* log = nullptr;         ///< of a thread that left records
  const DeviceLane* device = nullptr;  ///< or of a device
  static constexpr size_t kNoFolder = SIZE_MAX;
};

/// By LocationId. They point into `folders` and `devices`. None if no thread left anything.
std::vector<Lane> make_lanes(const Processes& processes,
                             const std::vector<RawProcessFolder>& folders,
                             const RunDevices& devices);

}  // namespace culprit::assemble
