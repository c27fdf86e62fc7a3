// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Spins are few, so all are sent to all ranks. Then each rank finds which of its processes was the
// last to access the same place before a spin ended, without spinning itself; the last of these
// over all ranks has released the lock. A counter that is incremented in a loop looks like a spin,
// too; but no other process's access ends it.
#include "replay/detect/spin_locks.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/ranks/exchange.h"
#include "trace/mpi_calls.h"

namespace culprit::replay {

namespace {

constexpr size_t kFewest = 3;  ///< tries
constexpr Duration kShortest = Duration::from_nanos(1'000'000);
constexpr double kMostly = 0.5;  ///< of a spin: in these calls
/// A spin ends at most this many tries after the lock was released.
constexpr int64_t kTriesLate = 3;
constexpr Duration kLate = Duration::from_nanos(100'000);

/// The tries of one location for one place of a window; the last try got the lock.
struct Spin {
  WindowId window;
  uint32_t target;
  LocationId location;
  ProcessId process;
  Call first, last;
  uint32_t tries;
  Duration each() const { return Duration::from_nanos((last.leave - first.enter).nanos() / tries); }
  bool holds(const RmaCall& act) const {
    return act.location == location && act.call.enter >= first.enter &&
           act.call.enter <= last.enter;
  }
};

/// The last access to the place of a spin before it ended.
struct Release {
  Time enter = Time::min();
  LocationId location;
};

class SpinFinder {
 public:
  SpinFinder(const Run& run, ProcessId process, std::vector<Spin>& found)
      : run_(run), process_(process), found_(found) {
    for (const trace::Region& region : run.regions) {
      tries_.push_back(trace::is_mpi_call(region, trace::MpiTrait::tries_lock));
    }
  }

  /// Takes the acts of one location, in order of time.
  void see(const RmaCall& act) {
    if (act.fact.act != RmaAct::operation) {
      if (act.fact.window == now_.window) inside_ += act.call.leave - act.call.enter;
      return;
    }
    const bool tries = act.call.path.valid() && is_try(act.call.path);
    const bool same = tries && now_.tries > 0 && act.fact.window == now_.window &&
                      act.fact.target == now_.target && act.call.path == now_.last.path;
    if (!same) end();
    if (!tries) return;
    if (now_.tries == 0) {
      now_ = {act.fact.window, act.fact.target, act.location, process_, act.call, act.call, 0};
    }
    at_last_ = inside_;
    now_.last = act.call;
    inside_ += act.call.leave - act.call.enter;
    ++now_.tries;
  }

  void end() {
    const Duration length = now_.tries > 0 ? now_.last.enter - now_.first.enter : Duration::zero();
    if (now_.tries >= kFewest && length >= kShortest &&
        at_last_.seconds() >= kMostly * length.seconds()) {
      found_.push_back(now_);
    }
    now_ = {};
    inside_ = at_last_ = Duration::zero();
  }

 private:
  bool is_try(CallPathId path) const {
    const RegionId region = run_.callpaths[path].region;
    return region.valid() && tries_[region.index()];
  }

  const Run& run_;
  const ProcessId process_;
  std::vector<Spin>& found_;
  std::vector<bool> tries_;  ///< by RegionId
  Spin now_{};
  Duration inside_, at_last_;  ///< in calls, and until the last try
};

std::vector<Spin> find_spins(const Run& run, const std::vector<RmaEpochs>& epochs) {
  std::vector<Spin> spins;
  for (size_t p = 0; p < epochs.size(); ++p) {
    if (!run.owns(ProcessId(p)) || epochs[p].acts.empty()) continue;
    std::map<LocationId, SpinFinder> finders;
    for (const RmaCall& act : epochs[p].acts) {
      finders.try_emplace(act.location, run, ProcessId(p), spins).first->second.see(act);
    }
    for (auto& [location, finder] : finders) finder.end();
  }
  return spins;
}

/// The spins for one place, in order of their begin, and which of them are under way while time
/// passes: no more than there are locations.
struct Place {
  std::vector<size_t> spins;
  size_t next = 0;
  std::vector<size_t> under_way;

  void pass(Time now, const std::vector<Spin>& all) {
    for (; next < spins.size() && all[spins[next]].first.enter <= now; ++next) {
      under_way.push_back(spins[next]);
    }
    std::erase_if(under_way, [&](size_t i) { return all[i].last.leave < now; });
  }
};
using Places = std::map<std::pair<WindowId, uint32_t>, Place>;

Places places_of(const std::vector<Spin>& spins) {
  Places places;
  for (size_t i = 0; i < spins.size(); ++i) {
    places[{spins[i].window, spins[i].target}].spins.push_back(i);
  }
  for (auto& [key, place] : places) {
    std::stable_sort(place.spins.begin(), place.spins.end(), [&](size_t a, size_t b) {
      return spins[a].first.enter < spins[b].first.enter;
    });
  }
  return places;
}

/// Searches the acts of one process for those that ended spins of others.
void find_releases(ProcessId process, const RmaEpochs& own, const std::vector<Spin>& spins,
                   Places places, std::vector<Release>& releases) {
  for (const RmaCall& act : own.acts) {
    if (act.fact.act != RmaAct::operation) continue;
    const auto found = places.find({act.fact.window, act.fact.target});
    if (found == places.end()) continue;
    Place& place = found->second;
    place.pass(act.call.enter, spins);
    const bool spinning = std::any_of(place.under_way.begin(), place.under_way.end(),
                                      [&](size_t i) { return spins[i].holds(act); });
    if (spinning) continue;
    for (size_t i : place.under_way) {
      if (spins[i].process == process || act.call.enter <= releases[i].enter) continue;
      releases[i] = {act.call.enter, act.location};
    }
  }
}

}  // namespace

void find_spin_locks(const Run& run, const std::vector<RmaEpochs>& epochs, Outbox& box) {
  const std::vector<Spin> spins = concatenate(*run.ranks, find_spins(run, epochs));
  if (spins.empty()) return;
  const Places places = places_of(spins);
  std::vector<Release> own(spins.size());
  for (size_t p = 0; p < epochs.size(); ++p) {
    if (run.owns(ProcessId(p))) find_releases(ProcessId(p), epochs[p], spins, places, own);
  }
  const std::vector<Release> all = concatenate(*run.ranks, own);
  for (size_t i = 0; i < spins.size(); ++i) {
    const Spin& spin = spins[i];
    if (!run.owns(spin.process)) continue;
    Release last;
    for (size_t at = i; at < all.size(); at += spins.size()) {
      if (all[at].enter > last.enter) last = all[at];
    }
    if (last.enter == Time::min()) continue;
    const Duration late = spin.last.enter - last.enter;
    if (late.nanos() > kTriesLate * spin.each().nanos() && late > kLate) continue;
    const Call stretch{spin.first.enter, spin.last.leave, spin.last.path};
    box.wait(spin.location, pattern("mpi.polling"), stretch, last.enter, last.location);
    box.meet(spin.location, last.location, last.enter);
  }
}

}  // namespace culprit::replay
