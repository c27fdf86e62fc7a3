// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What host threads do for devices: calls of a device's runtime, with the operations that they hand
// over and wait for.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "assemble/records/thread_state.h"

namespace culprit::assemble {

class DeviceRecords {
 public:
  explicit DeviceRecords(ThreadState& state) : state_(state) {}
  void see(const RawRecord& record);

 private:
  void enter(const RawRecord& record);
  void leave(const RawRecord& record);
  void launch(const RawRecord& record);
  void wait(const RawRecord& record);
  void tell_launch();
  bool told_by(const DeviceCall& call, trace::DeviceWait& wait) const;
  uint32_t queue_of(uint32_t number) const;
  RegionId call(uint16_t name);

  ThreadState& state_;
  std::map<uint16_t, RegionId> calls_;
  /// Told once what it waits for, which follows it, is known.
  std::optional<trace::DeviceLaunch> launch_;
  Time launched_;
  std::vector<trace::OperationNumber> after_;
};

}  // namespace culprit::assemble
