// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/run/process_cores.h"

#include <array>
#include <bit>
#include <filesystem>
#include <map>
#include <string>

namespace culprit::assemble {
namespace {

using trace::RawProcess;

using CoreSet = std::array<uint64_t, trace::kRawCoreWords>;

uint64_t count(const CoreSet& cores) {
  uint64_t sum = 0;
  for (const uint64_t word : cores) sum += static_cast<uint64_t>(std::popcount(word));
  return sum;
}

CoreSet set_of(const RawProcess& process) {
  CoreSet cores{};
  for (size_t i = 0; i < cores.size(); ++i) cores[i] = process.cores[i];
  return cores;
}

/// Containers have host names of their own on one machine.
std::string machine_of(const RawProcess& process) {
  return process.boot_id[0] != '\0' ? process.boot_id : process.host;
}

}  // namespace

std::vector<ProcessCores> cores_of(const std::vector<RawProcessFolder>& folders,
                                   const Processes& processes) {
  std::map<std::string, CoreSet> machines;
  for (const RawProcessFolder& folder : folders) {
    CoreSet& all = machines[machine_of(folder.process)];
    const CoreSet own = set_of(folder.process);
    for (size_t i = 0; i < all.size(); ++i) all[i] |= own[i];
  }
  std::vector<ProcessCores> rows;
  for (size_t slot = 0; slot < processes.slots.size(); ++slot) {
    if (!processes.slots[slot].folder) continue;
    const RawProcess& process = folders[*processes.slots[slot].folder].process;
    const bool known = process.on_core_ns > 0;
    rows.push_back({static_cast<uint32_t>(slot), process.host, count(set_of(process)),
                    count(machines[machine_of(process)]),
                    static_cast<double>(process.on_core_ns) * 1e-9,
                    known ? static_cast<double>(process.core_wait_ns) * 1e-9 : -1,
                    std::filesystem::path(process.executable).filename().string(), process.pid});
  }
  return rows;
}

}  // namespace culprit::assemble
