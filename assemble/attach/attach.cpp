// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Looks come at irregular moments: a program that does something at regular ones would be seen at
// the same place again and again.
#include "assemble/attach/attach.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <random>
#include <thread>

#include "assemble/attach/process_tally.h"

namespace culprit::assemble::attach {
namespace {

using Clock = std::chrono::steady_clock;

double own_core_seconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// In short naps: the user wants to see the result soon after he has asked for it.
void sleep_for(double seconds, const std::atomic<bool>& stop) {
  constexpr double kNap_s = 0.05;
  const auto begin = Clock::now();
  for (double left = seconds; left > 0 && !stop; left = seconds - seconds_since(begin)) {
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(left, kNap_s)));
  }
}

void add_culprits(const ProcessTally& tally, pid_t pid, Seen& seen) {
  const Blame& blame = tally.blame();
  seen.waiting_s += blame.waiting_s;
  seen.nobody_s += blame.nobody_s;
  seen.somebody_s += blame.somebody_s;
  for (const auto& [who, cost] : blame.costs) {
    seen.culprits.push_back({pid, who.first, who.second, cost.waiting_s, cost.locks_s});
  }
}

}  // namespace

Seen attach(std::vector<Target> targets, const AttachOptions& options,
            const std::atomic<bool>& stop) {
  constexpr double kShareOfACore = 0.05;
  std::deque<ProcessTally> tallies;
  for (Target& target : targets) tallies.emplace_back(std::move(target));
  Seen seen;
  look::ShortStops stops;
  std::minstd_rand random(std::random_device{}());
  std::uniform_real_distribution<double> around_one(0.5, 1.5);
  const auto begin = Clock::now();
  const double core_begin_s = own_core_seconds();
  while (!stop) {
    const double before_s = own_core_seconds();
    bool some = false;
    for (ProcessTally& tally : tallies) some = tally.look(stops) || some;
    if (!some) break;
    ++seen.looks;
    const double left_s = options.seconds > 0 ? options.seconds - seconds_since(begin) : HUGE_VAL;
    if (left_s <= 0) break;
    const double took_s = own_core_seconds() - before_s;
    const double pause_s = std::max(1 / options.looks_per_s, took_s / kShareOfACore);
    sleep_for(std::min(left_s, pause_s * around_one(random)), stop);
  }
  seen.seconds = seconds_since(begin);
  seen.own_core_s = own_core_seconds() - core_begin_s;
  seen.stops = stops.count();
  seen.stopped_s = 1e-9 * static_cast<double>(stops.all_ns());
  seen.longest_stop_s = 1e-9 * static_cast<double>(stops.longest_ns());
  seen.refused = stops.refused();
  for (ProcessTally& tally : tallies) {
    seen.processes.push_back(tally.finish());
    add_culprits(tally, seen.processes.back().pid, seen);
  }
  std::stable_sort(
      seen.culprits.begin(), seen.culprits.end(),
      [](const SeenCulprit& a, const SeenCulprit& b) { return a.waiting_s > b.waiting_s; });
  return seen;
}

}  // namespace culprit::assemble::attach
