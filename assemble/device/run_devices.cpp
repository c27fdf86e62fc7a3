// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/device/run_devices.h"

#include <algorithm>
#include <map>
#include <utility>

namespace culprit::assemble {

RunDevices gather_devices(const std::vector<RawProcessFolder>& folders, Losses& losses,
                          std::vector<std::string>& notes) {
  RunDevices run;
  std::map<std::pair<std::string, std::string>, DeviceId> known;
  for (const RawProcessFolder& folder : folders) {
    const ProcessDevices& own =
        run.by_folder.emplace_back(read_devices(folder.device_logs, losses));
    for (const std::string& refusal : own.refusals) {
      if (std::find(notes.begin(), notes.end(), refusal) == notes.end()) notes.push_back(refusal);
    }
    std::vector<DeviceId>& ids = run.ids.emplace_back();
    for (const RecordedDevice& device : own.devices) {
      const std::string node = folder.process.host;
      const auto [id, is_new] = known.try_emplace({node, device.identity}, run.all.size());
      if (is_new) run.all.push_back({device.name, node, device.identity});
      ids.push_back(id->second);
    }
  }
  return run;
}

}  // namespace culprit::assemble
