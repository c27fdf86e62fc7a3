// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "blame/device_blame.h"

#include <algorithm>
#include <map>

#include "base/parallel.h"
#include "blame/path_kinds.h"
#include "blame/stretches.h"
#include "replay/device_facts.h"

namespace culprit::blame {

namespace {

using replay::DeviceGap;
using replay::DeviceOperation;
using replay::Run;
using replay::Wait;

struct Earned {
  double time = 0, alone = 0;
};
using Key = std::pair<LocationId, CallPathId>;
using Blame = std::map<Key, Earned>;

class DeviceBlamer {
 public:
  DeviceBlamer(const Explained& given, Findings& found)
      : run_(given.run),
        graph_(given.graph),
        places_(given.all.path.places),
        threads_(given.threads),
        found_(found) {}

  void write() {
    blame_for_idle_devices();
    blame_for_waiting_hosts();
  }

 private:
  void add_blame(const std::vector<Blame>& blames, const char* kind, double& sum) {
    Blame all;
    for (const Blame& blame : blames) {
      for (const auto& [key, earned] : blame) {
        all[key].time += earned.time;
        all[key].alone += earned.alone;
      }
    }
    for (const auto& [key, earned] : all) {
      found_.device_blame.push_back(
          {kind, key.second, key.first, earned.time, earned.alone, on_critical_path(key)});
      sum += earned.time;
    }
  }

  /// Where nobody is to blame, there is nothing that could be removed.
  double on_critical_path(const Key& key) const {
    if (key.second == run_.device_idle) return 0;
    const auto place = std::partition_point(
        places_.begin(), places_.end(),
        [&](const CriticalPlace& other) { return std::pair(other.location, other.path) < key; });
    if (place == places_.end() || std::pair(place->location, place->path) != key) return 0;
    return place->on_path.seconds();
  }

  // --- an idle device: what its host did meanwhile ---

  void blame_for_idle_devices() {
    std::vector<Blame> blames(run_.locations.size());
    parallel_for(blames.size(), threads_, [&](size_t i) {
      for (const DeviceGap& gap : graph_.device_gaps[run_.locations[i].index()]) {
        if (!gap.known || gap.handed_over <= gap.begin) continue;
        for_each_stretch(run_, gap.host, {}, gap.begin, gap.handed_over,
                         [&](Time begin, Time end, CallPathId path, const Wait*) {
                           Earned& earned = blames[i][{gap.host, path}];
                           earned.time += (end - begin).seconds();
                           earned.alone += (end - begin).seconds();
                         });
      }
    });
    add_blame(blames, "idle device", found_.identities.device_idle_blame_s);
    for (LocationId id : run_.locations) {
      for (const DeviceGap& gap : graph_.device_gaps[id.index()]) {
        if (gap.known) found_.identities.device_idle_s += (gap.handed_over - gap.begin).seconds();
      }
    }
  }

  // --- a waiting host: what the process's streams executed meanwhile ---

  void blame_for_waiting_hosts() {
    std::vector<Blame> blames(run_.locations.size());
    parallel_for(blames.size(), threads_, [&](size_t i) {
      const LocationId host = run_.locations[i];
      if (run_.is_stream(host)) return;
      for (const Wait& wait : graph_.waits[host.index()]) {
        if (wait_kind(wait.pattern) == WaitKind::device) share(host, wait, blames[i]);
      }
    });
    add_blame(blames, "waiting host", found_.identities.device_wait_blame_s);
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
    if (active.empty()) blame[nobody].time += time;
    const bool alone = std::all_of(active.begin(), active.end(), [&](const Key& key) {
      return key.second == active.front().second;
    });
    for (const Key& key : active) {
      Earned& earned = blame[key];
      earned.time += time / static_cast<double>(active.size());
      if (alone) earned.alone += time / static_cast<double>(active.size());
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
  const std::vector<CriticalPlace>& places_;
  unsigned threads_;
  Findings& found_;
};

}  // namespace

void explain_device_blame(const Explained& given, Findings& found) {
  if (given.run.device_idle.valid()) DeviceBlamer(given, found).write();
}

}  // namespace culprit::blame
