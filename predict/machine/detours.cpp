// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A detour is the length of a gap beyond the usual step between two readings. In a quantum of
// length Q with n readings of the clock, and n_best in the core's best quantum, the time Q (1 - n /
// n_best) is stolen.
#include "predict/machine/detours.h"

#include <algorithm>

namespace culprit::predict {

MachineNoise summarize(const NoiseSettings& settings, const std::vector<HostRecords>& hosts) {
  MachineNoise noise;
  noise.quantum = settings.quantum;
  noise.shortest = kShortestDetour;
  std::vector<double> detours, stolen;
  double work_s = 0;
  for (const HostRecords& host : hosts) {
    for (const CoreRecord& core : host.cores) {
      CoreNoise sum{host.host, core.cpu, core.gaps.size(), {}, 0};
      Duration lost;
      for (const Duration gap : core.gaps) {
        const Duration detour = gap - core.step;
        detours.push_back(static_cast<double>(detour.nanos()));
        lost += detour;
        sum.largest = std::max(sum.largest, detour);
      }
      noise.measured = std::max(noise.measured, core.measured);
      work_s += (core.measured - lost).seconds();
      if (core.measured > Duration::zero()) sum.share = lost.seconds() / core.measured.seconds();
      noise.cores.push_back(sum);
      const uint64_t best =
          core.readings.empty() ? 0 : *std::max_element(core.readings.begin(), core.readings.end());
      for (const uint64_t readings : core.readings) {
        const double done =
            best > 0 ? static_cast<double>(readings) / static_cast<double>(best) : 1;
        stolen.push_back(static_cast<double>(settings.quantum.nanos()) * (1 - done));
      }
    }
  }
  if (work_s > 0) noise.detours.per_second_of_work = static_cast<double>(detours.size()) / work_s;
  noise.detours.length = Distribution::of(std::move(detours));
  noise.stolen = Distribution::of(std::move(stolen));
  return noise;
}

}  // namespace culprit::predict
