// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Every location's time is divided into a few classes by its call paths and waits, then summed by
// process. Start-up that all processes share is subtracted from the length of the run.
#include "blame/explain/efficiency.h"

#include <algorithm>
#include <cmath>

namespace culprit::blame {

namespace {

/// The time before a process was started.
struct NotStarted {
  CallPathId path;
  double process_s = 0;
};

NotStarted not_started(const replay::Run& run, const Profiles& profiles, LocationId master) {
  for (const PathTime& entry : profiles[master.index()]) {
    if (entry.path == run.not_started) return {run.not_started, entry.time.seconds()};
  }
  return {run.not_started};
}

/// Adds a thread's time, except for idleness.
void add_thread(const std::vector<PathTime>& profile, const std::vector<WaitSum>& waits,
                const std::vector<PathKind>& kinds, const std::vector<bool>& idle,
                const NotStarted& before, ProcessTimes& times) {
  for (const PathTime& entry : profile) {
    const double time = entry.time.seconds();
    if (entry.path == before.path) {
      const double with_process = std::min(time, before.process_s);
      times.start_up_s += with_process;
      times.mpi_rest_s += time - with_process;
      continue;
    }
    switch (kinds[entry.path.index()]) {
      case PathKind::work:
        (idle[entry.path.index()] ? times.mpi_rest_s : times.useful_s) += time;
        break;
      case PathKind::runtime:
      case PathKind::waking:
        times.runtime_s += time;
        break;
      case PathKind::start_up:
        times.start_up_s += time;
        break;
      case PathKind::mpi:
      case PathKind::io:
      case PathKind::absent:
        times.mpi_rest_s += time;
        break;
    }
  }
  for (const WaitSum& sum : waits) {
    const double time = sum.time.seconds();
    if (kinds[sum.path.index()] == PathKind::start_up) {
      times.start_up_s += time;
      continue;
    }
    switch (wait_kind(sum.pattern)) {
      case WaitKind::pool:
        times.serial_s += time;
        break;
      case WaitKind::team:
      case WaitKind::mutex:
        times.imbalance_s += time;
        break;
      case WaitKind::mpi:
        times.mpi_wait_s += time;
        break;
      case WaitKind::device:
        times.device_s += time;
        break;
      case WaitKind::polling:
      case WaitKind::other:
        times.mpi_rest_s += time;
        break;
    }
  }
}

/// Charges threads' idle time while the process is in MPI, or waits for a device, to MPI or the
/// device.
void charge_idleness(const IdleBlame::TeamGroup& group, ProcessTimes& times) {
  const auto move = [&](NobodyReason reason, double& to) {
    const auto r = static_cast<size_t>(reason);
    times.imbalance_s -= group.nobody_team_s[r];
    times.serial_s -= group.nobody_pool_s[r];
    to += group.nobody_team_s[r] + group.nobody_pool_s[r];
  };
  move(NobodyReason::io, times.mpi_rest_s);
  move(NobodyReason::mpi, times.mpi_rest_s);
  move(NobodyReason::mpi_wait, times.mpi_wait_s);
  move(NobodyReason::device, times.device_s);
  move(NobodyReason::start_up, times.start_up_s);
  move(NobodyReason::absent, times.mpi_rest_s);
  times.imbalance_s = std::max(times.imbalance_s, 0.0);  // of roundings
  times.serial_s = std::max(times.serial_s, 0.0);
}

double ratio(double part, double whole) {
  return whole > 0 ? part / whole : 1;
}

}  // namespace

std::vector<ProcessTimes> process_times(const replay::Run& run, const WaitSums& waits,
                                        const Profiles& profiles, const IdleBlame& idle) {
  const std::vector<PathKind> kinds = path_kinds(run);
  const std::vector<bool> asleep = idle_in_own_code(run, kinds);
  std::vector<ProcessTimes> processes(run.definitions->processes.size());
  for (LocationId id : run.locations) {
    if (run.is_stream(id)) continue;
    ProcessTimes& times = processes[run.location(id).process.index()];
    times.threads += ratio(run.life(id).length().seconds(), run.wall().seconds());
    add_thread(profiles[id.index()], waits[id.index()], kinds, asleep,
               not_started(run, profiles, run.master_of(id)), times);
  }
  for (const IdleBlame::TeamGroup& group : idle.groups) {
    charge_idleness(group, processes[run.location(group.members.front()).process.index()]);
  }
  return processes;
}

double common_start_up(const std::vector<ProcessTimes>& processes) {
  double least = INFINITY;
  for (const ProcessTimes& p : processes) {
    if (p.threads > 0) least = std::min(least, p.start_up_s / static_cast<double>(p.threads));
  }
  return std::isfinite(least) ? least : 0;
}

std::vector<FoundEfficiency> efficiencies(const std::vector<ProcessTimes>& processes, double wall_s,
                                          bool with_devices) {
  constexpr double kNothing = 1e-9;  // shorter than any clock can resolve
  const double own_s = wall_s - common_start_up(processes);
  if (own_s < kNothing) return {};
  ProcessTimes all;
  double largest_outside = 0, largest_ideal = 0;
  for (const ProcessTimes& p : processes) {
    if (p.threads <= 0) continue;
    all.threads += p.threads;
    all.useful_s += p.useful_s;
    all.serial_s += p.serial_s;
    all.imbalance_s += p.imbalance_s;
    all.runtime_s += p.runtime_s;
    all.device_s += p.device_s;
    const double n = p.threads;
    largest_outside = std::max(largest_outside, p.outside_mpi_s() / n);
    largest_ideal = std::max(largest_ideal, (p.outside_mpi_s() + p.mpi_wait_s) / n);
  }
  const double n = all.threads;
  const double outside = all.outside_mpi_s();
  const double host = outside - all.device_s;
  const double in_teams = all.useful_s + all.imbalance_s + all.runtime_s;
  const double at_work = all.useful_s + all.runtime_s;
  std::vector<FoundEfficiency> rows = {
      {Factor::parallel, Factor::none, ratio(all.useful_s, n * own_s)},
      {Factor::mpi, Factor::parallel, ratio(outside, n * own_s)},
      {Factor::mpi_load_balance, Factor::mpi, ratio(outside, n * largest_outside)},
      {Factor::mpi_communication, Factor::mpi, ratio(largest_outside, own_s)},
      {Factor::mpi_serialisation, Factor::mpi_communication, ratio(largest_outside, largest_ideal)},
      {Factor::mpi_transfer, Factor::mpi_communication, ratio(largest_ideal, own_s)},
      {Factor::omp, Factor::parallel, ratio(all.useful_s, host)},
      {Factor::omp_serial, Factor::omp, ratio(in_teams, host)},
      {Factor::omp_load_balance, Factor::omp, ratio(at_work, in_teams)},
      {Factor::omp_runtime, Factor::omp, ratio(all.useful_s, at_work)},
  };
  if (with_devices) rows.push_back({Factor::offload, Factor::parallel, ratio(host, outside)});
  return rows;
}

}  // namespace culprit::blame
