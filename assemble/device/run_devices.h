// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The devices of all processes of a run. A device has one id, however many processes use it.
#pragma once

#include <string>
#include <vector>

#include "assemble/device/devices.h"
#include "base/ids.h"
#include "base/losses.h"
#include "trace/definitions.h"

namespace culprit::assemble {

struct RunDevices {
  std::vector<ProcessDevices> by_folder;
  std::vector<std::vector<DeviceId>> ids;  ///< of by_folder's devices
  std::vector<trace::Device> all;          ///< by DeviceId
};

/// Reads the logs of devices of all `folders`, whose devices have no ids yet.
RunDevices read_devices(const std::vector<RawProcessFolder>& folders, Losses& losses);
/// Gives ids to the devices. Sentences that the reader must see are added to `notes`, each once.
void number_devices(const std::vector<RawProcessFolder>& folders, RunDevices& run,
                    std::vector<std::string>& notes);

}  // namespace culprit::assemble
