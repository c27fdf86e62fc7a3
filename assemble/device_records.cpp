// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/device_records.h"

namespace culprit::assemble {
namespace {

using trace::RawKind;

/// Ids of calls on the timeline's stack: apart from those of OpenMP's on the same level.
constexpr uint64_t kDeviceCalls = uint64_t{1} << 48;

}  // namespace

void DeviceRecords::see(const RawRecord& record) {
  switch (record.kind) {
    case RawKind::device_enter:
      return enter(record);
    case RawKind::device_leave:
      return leave(record);
    default:
      return;
  }
}

RegionId DeviceRecords::call(uint16_t name) {
  const auto [known, added] = calls_.try_emplace(name);
  if (added) {
    const auto text = state_.names.find(name);
    known->second = state_.process.regions.device_call(
        text != state_.names.end() ? text->second : "device runtime");
  }
  return known->second;
}

void DeviceRecords::enter(const RawRecord& record) {
  const Time time = state_.time(record);
  state_.observe(time, record.arg);
  state_.timeline.enter(time, Level::call, call(record.flags), kDeviceCalls | record.flags);
}

void DeviceRecords::leave(const RawRecord& record) {
  const auto& stack = state_.timeline.stack();
  const size_t depth = state_.timeline.innermost();
  const bool open = depth != Timeline::npos && stack[depth].level == Level::call &&
                    stack[depth].id == (kDeviceCalls | record.flags);
  if (open) state_.timeline.leave(state_.time(record), depth);
}

}  // namespace culprit::assemble
