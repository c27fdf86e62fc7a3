// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/run/lanes.h"

#include <algorithm>

namespace culprit::assemble {

std::vector<Lane> make_lanes(const Processes& processes,
                             const std::vector<RawProcessFolder>& folders,
                             const RunDevices& devices) {
  std::vector<Lane> lanes;
  bool records = false;
  for (size_t i = 0; i < processes.slots.size(); ++i) {
    const auto folder = processes.slots[i].folder;
    if (!folder) {
      lanes.push_back({.process = ProcessId(i)});
      continue;
    }
    const std::vector<RawLog>& logs = folders[*folder].logs;
    records = records || !logs.empty();
    uint32_t number = 0;
    for (size_t thread = 0; thread < std::max<size_t>(logs.size(), 1); ++thread) {
      const RawLog* const log = thread < logs.size() ? &logs[thread] : nullptr;
      lanes.push_back({ProcessId(i), number++, *folder, log, nullptr});
    }
    for (const DeviceLane& lane : devices.by_folder[*folder].lanes) {
      lanes.push_back({ProcessId(i), number++, *folder, nullptr, &lane});
    }
  }
  if (!records) lanes.clear();
  return lanes;
}

}  // namespace culprit::assemble
