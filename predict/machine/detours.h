// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Noise as seen by a thread that does nothing but read the clock. There are two measures of it:
// detours (P. Beckman et al.: Benchmarking the effects of operating system interference on
// extreme-scale parallel machines, Cluster Computing 11, 2008), each a gap between two readings,
// and fixed time quanta (M. Sottile, R. Minnich: Analysis of microbenchmarks for performance tuning
// of clusters, CLUSTER 2004), the work that got done in each. The second also sees what slows a
// core down without interrupting it.
#pragma once

#include <string>
#include <vector>

#include "base/ranks/transport.h"
#include "base/time.h"
#include "predict/machine/machine.h"

namespace culprit::predict {

struct NoiseSettings {
  Duration measured = Duration::from_nanos(2'000'000'000);
  Duration quantum = Duration::from_nanos(1'000'000);
};

/// The record of one core's thread.
struct CoreRecord {
  uint32_t cpu = 0;
  Duration measured;               ///< by the clock
  Duration step;                   ///< between two readings, undisturbed
  std::vector<Duration> gaps;      ///< longer than kShortestDetour
  std::vector<uint64_t> readings;  ///< by quantum, but for those cut short
};

/// Shorter interruptions cannot be distinguished from the clock's own jitter.
inline constexpr Duration kShortestDetour = Duration::from_nanos(1'000);

/// Reads `clock()` (a Time) until the time is over. Memory is allocated before, so that no page
/// faults occur meanwhile; at most kMostGaps gaps are kept.
inline constexpr size_t kMostGaps = 1 << 18;
template <class Clock>
CoreRecord watch(uint32_t cpu, const NoiseSettings& settings, const Clock& clock) {
  CoreRecord record;
  record.cpu = cpu;
  record.gaps.resize(kMostGaps);
  record.readings.resize(static_cast<size_t>(settings.measured.nanos() / settings.quantum.nanos()));
  size_t gaps = 0, quantum = 0;
  const Time begin = clock();
  Time before = begin, quantum_end = begin + settings.quantum;
  Duration least = settings.measured;
  while (quantum < record.readings.size() && gaps < kMostGaps) {
    const Time now = clock();
    const Duration gap = now - before;
    if (gap > kShortestDetour) record.gaps[gaps++] = gap;
    if (gap > Duration::zero() && gap < least) least = gap;
    for (; now >= quantum_end && quantum < record.readings.size(); ++quantum) {
      quantum_end = quantum_end + settings.quantum;
    }
    if (quantum < record.readings.size()) ++record.readings[quantum];
    before = now;
  }
  record.gaps.resize(gaps);
  record.readings.resize(quantum);
  record.measured = before - begin;
  record.step = least;
  return record;
}

/// Of all cores of one or more hosts.
struct HostRecords {
  std::string host;
  std::vector<CoreRecord> cores;
};
MachineNoise summarize(const NoiseSettings& settings, const std::vector<HostRecords>& hosts);

/// Watches the cores that the ranks may use, each core of a node once, all at the same time; with a
/// single rank, only its own. A core to which no thread can be bound is left out. Collective; the
/// first rank gets the results of all.
std::vector<HostRecords> watch_cores(Transport& ranks, const NoiseSettings& settings);

}  // namespace culprit::predict
