// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Sleep is known from calls in which samples found threads asleep: named calls are separate
// regions, sleep() and similar functions are sampled time of their callers. A thread that reads or
// writes files, or is blocked in any other call, counts as working.
#include "replay/read/helpers.h"

#include <algorithm>
#include <string_view>

#include "trace/pseudo_regions.h"
#include "trace/thread_calls.h"

namespace culprit::replay {

namespace {

constexpr double kSleeps = 0.9;  ///< of its time

constexpr std::string_view kNaps[] = {"sleep",      "usleep",     "nanosleep", "clock_nanosleep",
                                      "poll",       "ppoll",      "select",    "pselect",
                                      "epoll_wait", "epoll_pwait"};

/// "poll" of "(blocked in poll on a pipe)"; anything else as it is.
std::string_view call_of(std::string_view region) {
  const bool is_blocked = trace::pseudo_of(region) == trace::Pseudo::blocked_in;
  if (!is_blocked) return region;
  const std::string_view call = trace::rest_of_family(region);
  return call.substr(0, call.find(' '));
}

/// Threads sleep until somebody wakes them or their time is up.
bool is_timed_sleep(std::string_view call) {
  const trace::ThreadCall* const known = trace::thread_call(call);
  return known != nullptr && known->how == trace::ThreadCallHow::timed &&
         (known->kind == trace::ThreadCallKind::condition ||
          known->kind == trace::ThreadCallKind::semaphore);
}

/// Whether a region stands for a call in which the thread slept for whatever reason.
bool is_sleep(const trace::Region& region) {
  const trace::Pseudo kind = trace::pseudo_of(region.name);
  return kind == trace::Pseudo::blocked_in || kind == trace::Pseudo::io_in;
}

bool is_join(const Run& run, const Call& call) {
  if (!call.path.valid()) return false;
  const RegionId region = run.callpaths[call.path].region;
  if (!region.valid()) return false;
  const trace::ThreadCall* const known = trace::thread_call(run.regions[region.index()]);
  return known != nullptr && known->kind == trace::ThreadCallKind::join;
}

/// Whether another thread of the process waited for this object, but in a join.
bool is_waited_for(const Run& run, LocationId id, uint64_t object) {
  const trace::Process& process = run.definitions->processes[run.location(id).process.index()];
  for (LocationId other : process.locations) {
    if (other == id) continue;
    for (const AwaitedObject& awaited : run.at(other).threads.awaited) {
      if (awaited.object == object && !is_join(run, run.call(other, awaited.call))) return true;
    }
  }
  return false;
}

/// Returns whether a thread never releases others except by its end. Objects that it releases while
/// it ends are a part of that, unless a thread waited for them.
bool lets_nobody_go_on(const Run& run, LocationId id) {
  const Timeline& line = run.at(id);
  const bool communicates = !line.sends.empty() || !line.recvs.empty() ||
                            !line.collectives.empty() || !line.rma.empty() ||
                            !line.device.launches.empty() || !line.device.waits.empty();
  const bool has_team = !line.forks.empty() || !line.teams.empty();
  if (communicates || has_team || line.threads.begun.size() > 1) return false;
  const Column<ObjectMoment>& woke = line.threads.woke;
  constexpr Duration kEnding = Duration::from_nanos(1'000'000);
  return std::all_of(woke.begin(), woke.end(), [&](const ObjectMoment& moment) {
    return line.last - moment.time <= kEnding && !is_waited_for(run, id, moment.object);
  });
}

double asleep_s(const Run& run, LocationId id, const std::vector<bool>& is_nap) {
  double sum_s = 0;
  const std::vector<PathSamples>& samples = run.samples[id.index()];
  for (size_t p = 0; p < samples.size(); ++p) {
    const RegionId region = run.callpaths[CallPathId(p)].region;
    const bool has_name =
        region.valid() && (is_nap[region.index()] || is_sleep(run.regions[region.index()]));
    if (!has_name) sum_s += samples[p].observed.seconds();
  }
  const Activities& life = run.at(id).activities;
  for (size_t i = 0; i < life.size(); ++i) {
    const RegionId region = run.callpaths[life.path(i)].region;
    if (region.valid() && is_nap[region.index()]) sum_s += (life.end(i) - life.begin(i)).seconds();
  }
  return sum_s;
}

/// The call that waited for the thread's end.
Joined find_joiner(const Run& run, LocationId id) {
  const Timeline& line = run.at(id);
  const trace::Process& process = run.definitions->processes[run.location(id).process.index()];
  for (LocationId other : process.locations) {
    if (other == id || line.threads.woke.empty() || run.at(other).joiner.valid()) continue;
    for (const AwaitedObject& awaited : run.at(other).threads.awaited) {
      const bool by_end =
          std::any_of(line.threads.woke.begin(), line.threads.woke.end(),
                      [&](const ObjectMoment& woke) { return woke.object == awaited.object; });
      if (!by_end) continue;
      const Call call = run.call(other, awaited.call);
      if (is_join(run, call) && call.leave >= line.last) return {other, call.enter};
    }
  }
  return {run.master_of(id), line.last};
}

}  // namespace

std::vector<bool> nap_regions(const Run& run) {
  std::vector<bool> naps;
  for (const trace::Region& region : run.regions) {
    const bool is_call = region.file.empty();  // no function of the program's own
    const std::string_view call = call_of(region.name);
    const bool sleeps = std::find(std::begin(kNaps), std::end(kNaps), call) != std::end(kNaps);
    naps.push_back(is_call && (sleeps || is_timed_sleep(call)));
  }
  return naps;
}

Joined find_join(const Run& run, LocationId id, const std::vector<bool>& is_nap) {
  const Timeline& line = run.at(id);
  if (line.threads.begun.empty()) return {};
  const double life_s = (line.last - line.first).seconds();
  if (asleep_s(run, id, is_nap) < kSleeps * life_s || !lets_nobody_go_on(run, id)) return {};
  const Joined joined = find_joiner(run, id);
  if (joined.by == id) return {};
  return {joined.by, std::clamp(joined.at, line.first, line.last)};
}

}  // namespace culprit::replay
