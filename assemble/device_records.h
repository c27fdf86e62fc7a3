// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What host threads do for devices: calls of a device's runtime, with the operations that they hand
// over and wait for.
#pragma once

#include <map>

#include "assemble/stream.h"

namespace culprit::assemble {

class DeviceRecords {
 public:
  explicit DeviceRecords(ThreadState& state) : state_(state) {}
  void see(const RawRecord& record);

 private:
  void enter(const RawRecord& record);
  void leave(const RawRecord& record);
  RegionId call(uint16_t name);

  ThreadState& state_;
  std::map<uint16_t, RegionId> calls_;
};

}  // namespace culprit::assemble
