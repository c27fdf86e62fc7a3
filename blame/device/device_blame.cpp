// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Gaps and waits are visited in the order of time, together with the concurrent activities of hosts
// and streams; blame that several share is divided among them.
#include "blame/device/device_blame.h"

#include <algorithm>
#include <map>

#include "base/parallel.h"
#include "base/ranks/exchange.h"
#include "blame/profile/path_kinds.h"
#include "blame/profile/stretches.h"
#include "replay/model/device_facts.h"
#include "trace/device_apis.h"

namespace culprit::blame {

namespace {

using replay::DeviceGap;
using replay::DeviceOperation;
using replay::Run;
using replay::Wait;

struct BlameShare {
  double time = 0, alone = 0, between = 0;
};
using Key = std::pair<LocationId, CallPathId>;
using Blame = std::map<Key, BlameShare>;

/// Returns whether a host's call waits for others or prepares devices: its time is then not what
/// leaving it out would gain.
bool synchronises(const trace::Region& region) {
  using enum trace::Paradigm;
  return region.paradigm == mpi || region.paradigm == openacc ||
         trace::is_device_api(region.paradigm);
}

/// Seconds of each call path on the critical path, on all locations. Launch latency counts for the
/// operation that it comes before. Collective.
std::vector<double> times_on_critical_path(const Explained& given) {
  const Run& run = given.run;
  std::vector<double> times(run.callpaths.size());
  const Column<PathSegment>& path = given.all.path.segments;  // on rank 0
  for (size_t i = 0; i < path.size(); ++i) {
    const PathSegment& next = path[std::min(i + 1, path.size() - 1)];
    const bool before_operation =
        path[i].path == run.launch_latency && next.location == path[i].location;
    const CallPathId who = before_operation ? next.path : path[i].path;
    times[who.index()] += (path[i].end - path[i].begin).seconds();
  }
  add_up(*run.ranks, times);
  const std::vector<bool> operations = on_streams(run);
  for (size_t i = 0; i < times.size(); ++i) {
    const RegionId id = run.callpaths[CallPathId(i)].region;
    if (!id.valid()) continue;
    const trace::Region& region = run.regions[id.index()];
    if (region.role == trace::RegionRole::artificial || (!operations[i] && synchronises(region))) {
      times[i] = 0;
    }
  }
  return times;
}

class DeviceBlamer {
 public:
  DeviceBlamer(const Explained& given, Findings& found)
      : run_(given.run),
        graph_(given.graph),
        critical_(times_on_critical_path(given)),
        threads_(given.threads),
        found_(found) {}

  void write() {
    blame_for_idle_devices();
    blame_for_waiting_hosts();
  }

 private:
  void add_blame(const std::vector<Blame>& blames, DeviceBlameKind kind, double& sum) {
    Blame all;
    for (const Blame& blame : blames) {
      for (const auto& [key, earned] : blame) {
        all[key].time += earned.time;
        all[key].alone += earned.alone;
        all[key].between += earned.between;
      }
    }
    for (const auto& [key, earned] : all) {
      found_.device_blame.push_back({kind, key.second, key.first, earned.time, earned.alone,
                                     earned.between, critical_[key.second.index()]});
      sum += earned.time;
    }
  }

  // --- an idle device: the activity of its host meanwhile ---

  void blame_for_idle_devices() {
    std::vector<Blame> blames(run_.locations.size());
    parallel_for(blames.size(), threads_, [&](size_t i) {
      for (const DeviceGap& gap : graph_.device_gaps[run_.locations[i].index()]) {
        if (!gap.known || gap.handed_over <= gap.begin) continue;
        const bool between = gap.place == DeviceGap::Place::between;
        for_each_stretch(run_, gap.host, {}, gap.begin, gap.handed_over,
                         [&](Time begin, Time end, CallPathId path, const Wait*) {
                           BlameShare& earned = blames[i][{gap.host, path}];
                           const double time = (end - begin).seconds();
                           earned.time += time;
                           earned.alone += time;
                           if (between) earned.between += time;
                         });
      }
    });
    add_blame(blames, DeviceBlameKind::idle_device, found_.identities.device_idle_blame_s);
    for (LocationId id : run_.locations) {
      for (const DeviceGap& gap : graph_.device_gaps[id.index()]) {
        if (gap.known) found_.identities.device_idle_s += (gap.handed_over - gap.begin).seconds();
      }
    }
  }

  // --- a waiting host: the operations of the process's streams meanwhile ---

  void blame_for_waiting_hosts() {
    std::vector<Blame> blames(run_.locations.size());
    parallel_for(blames.size(), threads_, [&](size_t i) {
      const LocationId host = run_.locations[i];
      if (run_.is_stream(host)) return;
      for (const Wait& wait : graph_.waits[host.index()]) {
        if (wait_kind(wait.pattern) == WaitKind::device) share(host, wait, blames[i]);
      }
    });
    add_blame(blames, DeviceBlameKind::waiting_host, found_.identities.device_wait_blame_s);
    for (LocationId host : run_.locations) {
      if (run_.is_stream(host)) continue;
      for (const Wait& wait : graph_.waits[host.index()]) {
        if (wait_kind(wait.pattern) == WaitKind::device) {
          found_.identities.device_wait_s += wait.amount.seconds();
        }
      }
    }
  }

  struct Change {
    Time time;
    const DeviceOperation* operation;
    LocationId stream;
    bool begins;
  };

  void share(LocationId host, const Wait& wait, Blame& blame) const {
    std::vector<Change> changes;
    const ProcessId process = run_.location(host).process;
    for (LocationId id : run_.definitions->processes[process.index()].locations) {
      if (run_.is_stream(id)) add_changes(id, wait, changes);
    }
    std::stable_sort(changes.begin(), changes.end(),
                     [](const Change& a, const Change& b) { return a.time < b.time; });
    // Tasks may run in the call: then less of it is waiting.
    const double part = wait.amount.seconds() / (wait.end - wait.begin).seconds();
    std::vector<Key> active;
    Time at = wait.begin;
    const auto pass = [&](Time until) {
      const double time = (until - at).seconds() * part;
      if (time > 0) earn(time, active, {wait.cause, run_.device_idle}, blame);
      at = until;
    };
    for (const Change& change : changes) {
      pass(change.time);
      const std::pair key(change.stream, change.operation->path);
      if (change.begins) {
        active.push_back(key);
      } else {
        active.erase(std::find(active.begin(), active.end(), key));
      }
    }
    pass(wait.end);
  }

  static void earn(double time, const std::vector<Key>& active, const Key& nobody, Blame& blame) {
    if (active.empty()) {
      blame[nobody].time += time;
      blame[nobody].between += time;
    }
    const bool alone = std::all_of(active.begin(), active.end(), [&](const Key& key) {
      return key.second == active.front().second;
    });
    for (const Key& key : active) {
      BlameShare& earned = blame[key];
      const double part = time / static_cast<double>(active.size());
      earned.time += part;
      earned.between += part;
      if (alone) earned.alone += part;
    }
  }

  void add_changes(LocationId stream, const Wait& wait, std::vector<Change>& changes) const {
    const Column<DeviceOperation>& all = run_.at(stream).device.operations;
    const auto* next = std::partition_point(
        all.begin(), all.end(), [&](const DeviceOperation& o) { return o.end <= wait.begin; });
    for (; next != all.end() && next->begin < wait.end; ++next) {
      if (!replay::keeps_device_busy(next->kind) || next->begin == next->end) continue;
      changes.push_back({std::max(next->begin, wait.begin), next, stream, true});
      changes.push_back({std::min(next->end, wait.end), next, stream, false});
    }
  }

  const Run& run_;
  const replay::WaitGraph& graph_;
  const std::vector<double> critical_;  // by CallPathId
  unsigned threads_;
  Findings& found_;
};

}  // namespace

void explain_device_blame(const Explained& given, Findings& found) {
  if (given.run.device_idle.valid()) DeviceBlamer(given, found).write();
}

}  // namespace culprit::blame
