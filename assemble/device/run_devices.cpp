// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/device/run_devices.h"

#include <algorithm>
#include <map>
#include <utility>

namespace culprit::assemble {

RunDevices read_devices(const std::vector<RawProcessFolder>& folders, Losses& losses) {
  RunDevices run;
  for (const RawProcessFolder& folder : folders) {
    run.by_folder.push_back(read_devices(folder.device_logs, losses));
  }
  return run;
}

void number_devices(const std::vector<RawProcessFolder>& folders, RunDevices& run,
                    std::vector<std::string>& notes) {
  std::map<std::pair<std::string, std::string>, DeviceId> known;
  for (size_t i = 0; i < folders.size(); ++i) {
    const ProcessDevices& own = run.by_folder[i];
    for (const std::string& refusal : own.refusals) {
      if (std::find(notes.begin(), notes.end(), refusal) == notes.end()) notes.push_back(refusal);
    }
    std::vector<DeviceId>& ids = run.ids.emplace_back();
    for (const RecordedDevice& device : own.devices) {
      const std::string node = folders[i].process.host;
      const auto [id, is_new] = known.try_emplace({node, device.identity}, run.all.size());
      if (is_new) run.all.push_back({device.name, node, device.identity});
      ids.push_back(id->second);
    }
  }
}

}  // namespace culprit::assemble
