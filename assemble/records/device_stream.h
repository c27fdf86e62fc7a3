// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One lane of a device's operations becomes one location's events: a visit for each operation.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "assemble/records/regions.h"
#include "assemble/run/clock.h"
#include "assemble/run/device_clock.h"
#include "assemble/run/devices.h"
#include "trace/events.h"

namespace culprit::assemble {

/// What the lanes of a process share. MT: read only, but for `regions`.
struct DeviceContext {
  const ProcessDevices& devices;
  const std::vector<DeviceClock>& clocks;  ///< by device
  /// When the call that handed over an operation was entered, by the operation's number.
  const std::unordered_map<uint64_t, uint64_t>& launches;
  const Clock& clock;
  size_t process = 0;  ///< its folder
  Regions& regions;
};

/// The clocks of the devices of one process.
std::vector<DeviceClock> device_clocks(const ProcessDevices& devices, const Clock& clock,
                                       size_t process);

struct LaneResult {
  uint64_t events = 0;
  uint64_t before_launch = 0;   ///< began before the call that handed them over
  uint64_t without_launch = 0;  ///< nobody knows that call
};

LaneResult play_lane(const DeviceLane& lane, const DeviceContext& context, trace::EventSink& sink);

/// "queue 1 of NVIDIA H200": what users call the lane.
std::string lane_name(const DeviceLane& lane, const ProcessDevices& devices);

}  // namespace culprit::assemble
