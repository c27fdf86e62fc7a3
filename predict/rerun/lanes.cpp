// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Locations take turns of some steps, so that none runs far ahead: the data in hubs stay small, and
// in the caches. Between two meetings nothing is done for a lane: what passes there is summed up,
// and what each alteration makes of it.
#include "predict/rerun/lanes.h"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "base/ranks/agree.h"
#include "base/ranks/exchange.h"
#include "base/result.h"
#include "predict/rerun/ranks/hub_messages.h"

namespace culprit::predict {

namespace {

constexpr uint32_t kNone = UINT32_MAX;
constexpr unsigned kTurn = 64;

/// Who waits for a hub, and where the times are at which others came.
struct HubState {
  uint32_t missing = 0;     ///< signals that have not come
  uint32_t gates = 0;       ///< that have not been passed
  uint32_t place = kNone;   ///< of its times, while there are any
  uint32_t waiter = kNone;  ///< the first location that waits; then Walk::next_waiter_
};

std::vector<HubState> hubs_of(const Outline& outline) {
  std::vector<HubState> hubs(outline.signals.size());
  for (size_t i = 0; i < hubs.size(); ++i) hubs[i].missing = outline.signals[i];
  for (LocationId id : outline.run.locations) {
    for (const Mark& mark : outline.marks_of(id)) {
      if (mark.kind() == MarkKind::gate) ++hubs[mark.target].gates;
    }
  }
  return hubs;
}

/// Nanoseconds, by lane.
template <unsigned K>
struct Times {
  std::array<double, K> nanos{};
};

/// The latest times at which locations have come to hubs, of those hubs at which some have, and
/// that others will yet pass.
template <unsigned K>
class HubTimes {
 public:
  void come(HubState& state, const Times<K>& came) {
    if (state.place == kNone) {
      state.place = take_place();
      pool_[state.place] = came;
      return;
    }
    Times<K>& times = pool_[state.place];
    for (unsigned k = 0; k < K; ++k) times.nanos[k] = std::max(times.nanos[k], came.nanos[k]);
  }
  /// Somebody must have come.
  const Times<K>& of(const HubState& state) const { return pool_[state.place]; }
  void forget(HubState& state) {
    if (state.place == kNone) return;
    free_.push_back(state.place);
    state.place = kNone;
  }

 private:
  uint32_t take_place() {
    if (free_.empty()) {
      pool_.emplace_back();
      return static_cast<uint32_t>(pool_.size() - 1);
    }
    const uint32_t place = free_.back();
    free_.pop_back();
    return place;
  }

  std::vector<Times<K>> pool_;
  std::vector<uint32_t> free_;
};

/// Hubs at which locations of several ranks meet.
class SharedHubs {
 public:
  SharedHubs(const Outline& outline, size_t lanes)
      : outline_(outline), messages_(*outline.run.ranks, lanes) {}

  /// All of this rank that come to another's hub have.
  void tell_owner(const HubElsewhere& hub, const double* nanos) {
    messages_.send(hub.rank, hub.there, nanos);
  }
  void tell_audience(uint32_t hub, const double* nanos) {
    const Audience& all = outline_.audience;
    auto one = std::lower_bound(all.begin(), all.end(), hub, is_before<Elsewhere>);
    for (; one != all.end() && one->here == hub; ++one) {
      messages_.send(one->rank, one->there, nanos);
    }
  }
  const HubElsewhere& elsewhere(uint32_t hub) const {
    const auto& all = outline_.found.hubs_elsewhere;
    return *std::lower_bound(all.begin(), all.end(), hub, is_before<HubElsewhere>);
  }
  HubMessages& messages() { return messages_; }

 private:
  template <class One>
  static bool is_before(const One& one, uint32_t hub) {
    return one.here < hub;
  }

  const Outline& outline_;
  HubMessages messages_;
};

template <unsigned K>
class Walk {
 public:
  Walk(const Outline& outline, const Alterations& all, const std::vector<AlterationSet>& lanes,
       Budget& budget)
      : outline_(outline),
        budget_(budget),
        hubs_(hubs_of(outline)),
        next_waiter_(outline.run.timelines.size(), kNone),
        lanes_(lanes.size()),
        shared_(outline, lanes.size()) {
    for (size_t a = 0; a < all.size(); ++a) {
      for (size_t k = 0; k < lanes.size(); ++k) in_[a].nanos[k] = lanes[k] >> a & 1;
    }
    for (size_t k = 0; k < lanes.size(); ++k) progress_[k] = (lanes[k] & kWithProgress) != 0;
    places_.assign(outline.run.timelines.size(), kNone);
    locations_.reserve(outline.run.locations.size());
    for (LocationId id : outline.run.locations) {
      places_[id.index()] = static_cast<uint32_t>(locations_.size());
      locations_.emplace_back(outline, all, id);
      ready_.push_back(static_cast<uint32_t>(id.index()));
    }
  }

  /// Returns false if a location waits for ever, on any rank.
  bool run() {
    Transport& ranks = *outline_.run.ranks;
    bool spent = false;
    do {
      try {
        walk();
      } catch (const BudgetSpent&) {
        if (ranks.alone()) throw;
        spent = true;  // the others notice when nothing comes any more
        ready_.clear();
      }
    } while (shared_.messages().receive([&](uint32_t hub, const double* times) {
      if (!spent) hear(hub, times);
    }));
    if (any(ranks, spent)) throw BudgetSpent();
    return !any(ranks, done_ < locations_.size());
  }

  std::vector<double> ends(size_t lanes) const {
    std::vector<double> ends(lanes);
    for (const Location& location : locations_) {
      for (size_t k = 0; k < lanes; ++k) ends[k] = std::max(ends[k], location.now.nanos[k]);
    }
    return ends;
  }

 private:
  struct Location {
    Location(const Outline& outline, const Alterations& all, LocationId id)
        : reader(outline, id), differences(all, id) {}
    StepReader reader;
    StepDifferences differences;
    Times<K> now;
    Step gate{};  ///< that it waits at
    bool waits = false;
    double passed = 0;                          ///< since the last meeting
    AlterationSet changed = 0;                  ///< meanwhile
    std::array<double, kMostAlterations> by{};  ///< how much longer it took, by alteration
  };

  void walk() {
    Spender spender(budget_);
    while (!ready_.empty()) {
      const uint32_t location = ready_.front();
      ready_.pop_front();
      go_on(location, spender);
    }
  }

  void go_on(uint32_t id, Spender& spender) {
    Location& location = locations_[places_[id]];
    if (location.waits) {
      location.waits = false;
      open(location, location.gate);
    }
    Step step{};
    for (unsigned turn = 0; turn < kTurn; ++turn) {
      spender.step();
      if (!location.reader.next(step)) {
        meet(location);
        ++done_;
        return;
      }
      location.differences.pass(step, [&](uint32_t alteration, double nanos) {
        location.by[alteration] += nanos;
        location.changed |= AlterationSet{1} << alteration;
      });
      if (step.kind() == StepKind::signal) {
        meet(location);
        signal(step.what, location.now);
      } else if (step.kind() == StepKind::gate) {
        meet(location);
        if (hubs_[step.what].missing > 0) return wait(id, location, step);
        open(location, step);
      } else if (step.kind() != StepKind::idle) {
        location.passed += static_cast<double>(step.amount);
      }
    }
    ready_.push_back(id);
  }

  void meet(Location& location) {
    for (double& nanos : location.now.nanos) nanos += location.passed;
    location.passed = 0;
    for (; location.changed != 0; location.changed &= location.changed - 1) {
      const auto a = static_cast<size_t>(std::countr_zero(location.changed));
      const double by = std::exchange(location.by[a], 0);
      for (unsigned k = 0; k < K; ++k) location.now.nanos[k] += by * in_[a].nanos[k];
    }
  }

  void signal(uint32_t hub, Times<K> came) {
    for (;;) {
      HubState& state = hubs_[hub];
      times_.come(state, came);
      if (state.missing > 0) --state.missing;
      const Hub& known = outline_.found.hubs[hub];
      if (known.reach == Hub::Reach::elsewhere) return tell_owner(hub, state);
      if (state.missing > 0) return;
      wake(state);
      came = times_.of(state);
      if (known.reach == Hub::Reach::shared) shared_.tell_audience(hub, came.nanos.data());
      if (state.gates == 0) times_.forget(state);
      const HubId next = known.next;
      if (!next.valid()) return;
      hub = static_cast<uint32_t>(next.index());
    }
  }

  void wake(HubState& state) {
    for (uint32_t waiter = std::exchange(state.waiter, kNone); waiter != kNone;) {
      ready_.push_back(waiter);
      waiter = std::exchange(next_waiter_[waiter], kNone);
    }
  }

  /// Once all of this rank have come, if so.
  void tell_owner(uint32_t hub, HubState& state) {
    const HubElsewhere& other = shared_.elsewhere(hub);
    if (state.missing > (other.awaited ? 1 : 0)) return;
    shared_.tell_owner(other, times_.of(state).nanos.data());
    times_.forget(state);
  }

  /// Locations of another rank have come to a hub of this one, or another's hub has opened.
  void hear(uint32_t hub, const double* nanos) {
    Times<K> times;
    std::copy_n(nanos, lanes_, times.nanos.begin());
    if (outline_.found.hubs[hub].reach != Hub::Reach::elsewhere) return signal(hub, times);
    HubState& state = hubs_[hub];
    state.missing = 0;
    wake(state);
    if (state.gates > 0) times_.come(state, times);
  }

  void wait(uint32_t id, Location& location, const Step& gate) {
    HubState& state = hubs_[gate.what];
    location.gate = gate;
    location.waits = true;
    next_waiter_[id] = state.waiter;
    state.waiter = id;
  }

  void open(Location& location, const Step& gate) {
    HubState& state = hubs_[gate.what];
    const double later = std::max<double>(0, static_cast<double>(gate.amount));
    if (state.place != kNone) {
      const Times<K>& times = times_.of(state);
      const bool of_progress = outline_.found.hubs[gate.what].of_progress;
      for (unsigned k = 0; k < K; ++k) {
        if (of_progress && progress_[k]) continue;
        location.now.nanos[k] = std::max(location.now.nanos[k], times.nanos[k] - later);
      }
    }
    if (--state.gates == 0) times_.forget(state);
  }

  const Outline& outline_;
  Budget& budget_;
  std::vector<HubState> hubs_;
  std::vector<uint32_t> next_waiter_;  ///< by LocationId
  std::vector<uint32_t> places_;       ///< by LocationId
  std::vector<Location> locations_;
  std::array<Times<K>, kMostAlterations> in_{};  ///< by alteration: 1 in lanes that make it
  std::array<bool, K> progress_{};               ///< by lane: operations go on by themselves
  HubTimes<K> times_;
  std::deque<uint32_t> ready_;
  size_t done_ = 0;
  const size_t lanes_;
  SharedHubs shared_;
};

template <unsigned K>
std::optional<std::vector<double>> walk(const Outline& outline, const Alterations& all,
                                        const std::vector<AlterationSet>& lanes, Budget& budget) {
  Walk<K> walk(outline, all, lanes, budget);
  if (!walk.run()) return std::nullopt;
  std::vector<double> ends(lanes.size());
  const std::vector<double> of_ranks = concatenate(*outline.run.ranks, walk.ends(lanes.size()));
  for (size_t i = 0; i < of_ranks.size(); ++i) {
    double& end = ends[i % ends.size()];
    end = std::max(end, of_ranks[i]);
  }
  return ends;
}

}  // namespace

std::optional<std::vector<double>> execute_lanes(const Outline& outline, const Alterations& all,
                                                 const std::vector<AlterationSet>& lanes,
                                                 Budget& budget) {
  if (any(*outline.run.ranks, outline.found.contended > 0)) return std::nullopt;
  if (lanes.size() <= 4) return walk<4>(outline, all, lanes, budget);
  if (lanes.size() <= 8) return walk<8>(outline, all, lanes, budget);
  if (lanes.size() <= 16) return walk<16>(outline, all, lanes, budget);
  if (lanes.size() <= 24) return walk<24>(outline, all, lanes, budget);
  CULPRIT_CHECK(lanes.size() <= kMostLanes);
  return walk<kMostLanes>(outline, all, lanes, budget);
}

}  // namespace culprit::predict
