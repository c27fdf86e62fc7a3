// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which streams communicate with one another, as far as the trace shows it: those of a group
// execute the same kernels in the same order. Either all processes with devices do, or nobody else
// executes kernels of these names: where a trace tells the group of a kernel, it is part of the
// name. Streams of one group end their kernels together, which divides those of several that are
// named alike.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "replay/model/run.h"
#include "replay/read/device_busy.h"

namespace culprit::replay {

enum class Communication : uint8_t { none, all_to_all, other };
/// What kernels of the region do, by NCCL's and RCCL's names.
Communication communication_of(std::string_view kernel);
/// By region of the run.
std::vector<Communication> communication_of_regions(const Run& run);

/// Visits a stream's communication kernels: visit(operation, its number among them).
template <class Visit>
void for_each_kernel(const Run& run, const std::vector<Communication>& kinds, LocationId stream,
                     const Visit& visit) {
  uint32_t number = 0;
  for (const DeviceOperation& operation : run.at(stream).device.operations) {
    if (kinds[operation.region.index()] != Communication::none) visit(operation, number++);
  }
}

/// A stream that executes communication kernels, as all ranks see it.
struct Member {
  LocationId stream;
  ProcessId process;
  DeviceKey device;
  Time first_end = Time::max();  ///< of its first kernel
  uint32_t kernels = 0;
  uint64_t names = 0;  ///< of the kernels in their order, as one number
};

/// Streams that may communicate with one another: they execute the same kernels. Where a device has
/// several such streams, those with the same index.
struct Channel {
  std::vector<Member> members;  ///< by stream
  bool matched = false;         ///< they are a group, as far as names and ends of kernels tell
};

/// The result is the same on all ranks. Collective.
std::vector<Channel> find_channels(const Run& run, const std::vector<Communication>& kinds);

}  // namespace culprit::replay
