// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One lane of a device's operations becomes one location's events: a visit for each operation.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "assemble/play/process_context.h"
#include "trace/events.h"

namespace culprit::assemble {

/// The clocks of the devices of one process.
std::vector<DeviceClock> device_clocks(const ProcessDevices& devices, const Clock& clock,
                                       size_t process);

struct LaneResult {
  uint64_t events = 0;
  uint64_t before_launch = 0;   ///< began before the call that handed them over
  uint64_t without_launch = 0;  ///< operations whose call is unknown
};

LaneResult play_lane(const DeviceLane& lane, const ProcessContext& process, trace::EventSink& sink);

/// "queue 1 of NVIDIA H200": what users call the lane.
std::string lane_name(const DeviceLane& lane, const ProcessDevices& devices);

}  // namespace culprit::assemble
