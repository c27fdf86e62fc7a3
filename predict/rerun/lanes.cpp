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

#include "base/result.h"

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

template <unsigned K>
class Walk {
 public:
  Walk(const Outline& outline, const Alterations& all, const std::vector<AlterationSet>& lanes,
       Budget& budget)
      : outline_(outline),
        budget_(budget),
        hubs_(hubs_of(outline)),
        next_waiter_(outline.run.timelines.size(), kNone) {
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

  /// Returns false if a location waits for ever.
  bool run() {
    Spender spender(budget_);
    while (!ready_.empty()) {
      const uint32_t location = ready_.front();
      ready_.pop_front();
      go_on(location, spender);
    }
    return done_ == locations_.size();
  }

  std::vector<double> ends(size_t lanes) const {
    std::vector<double> ends(lanes);
    for (const Location& location : locations_) {
      for (size_t k = 0; k < lanes; ++k) ends[k] = std::max(ends[k], location.now.nanos[k]);
    }
    return ends;
  }

 private:
  struct Times {
    std::array<double, K> nanos{};
  };

  struct Location {
    Location(const Outline& outline, const Alterations& all, LocationId id)
        : reader(outline, id), differences(all, id) {}
    StepReader reader;
    StepDifferences differences;
    Times now;
    Step gate{};  ///< that it waits at
    bool waits = false;
    double passed = 0;                          ///< since the last meeting
    AlterationSet changed = 0;                  ///< meanwhile
    std::array<double, kMostAlterations> by{};  ///< how much longer it took, by alteration
  };

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

  void signal(uint32_t hub, Times came) {
    for (;;) {
      HubState& state = hubs_[hub];
      come(state, came);
      if (state.missing > 0 && --state.missing > 0) return;
      for (uint32_t waiter = std::exchange(state.waiter, kNone); waiter != kNone;) {
        ready_.push_back(waiter);
        waiter = std::exchange(next_waiter_[waiter], kNone);
      }
      came = pool_[state.place];
      if (state.gates == 0) give_back(state);
      const HubId next = outline_.found.hubs[hub].next;
      if (!next.valid()) return;
      hub = static_cast<uint32_t>(next.index());
    }
  }

  void come(HubState& state, const Times& came) {
    if (state.place == kNone) {
      state.place = take_place();
      pool_[state.place] = came;
      return;
    }
    Times& times = pool_[state.place];
    for (unsigned k = 0; k < K; ++k) times.nanos[k] = std::max(times.nanos[k], came.nanos[k]);
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
      const Times& times = pool_[state.place];
      const bool of_progress = outline_.found.hubs[gate.what].of_progress;
      for (unsigned k = 0; k < K; ++k) {
        if (of_progress && progress_[k]) continue;
        location.now.nanos[k] = std::max(location.now.nanos[k], times.nanos[k] - later);
      }
    }
    if (--state.gates == 0) give_back(state);
  }

  uint32_t take_place() {
    if (free_.empty()) {
      pool_.emplace_back();
      return static_cast<uint32_t>(pool_.size() - 1);
    }
    const uint32_t place = free_.back();
    free_.pop_back();
    return place;
  }
  void give_back(HubState& state) {
    if (state.place == kNone) return;
    free_.push_back(state.place);
    state.place = kNone;
  }

  const Outline& outline_;
  Budget& budget_;
  std::vector<HubState> hubs_;
  std::vector<uint32_t> next_waiter_;  ///< by LocationId
  std::vector<uint32_t> places_;       ///< by LocationId
  std::vector<Location> locations_;
  std::array<Times, kMostAlterations> in_{};  ///< by alteration: 1 in lanes that make it
  std::array<bool, K> progress_{};            ///< by lane: operations go on by themselves
  std::vector<Times> pool_;
  std::vector<uint32_t> free_;
  std::deque<uint32_t> ready_;
  size_t done_ = 0;
};

template <unsigned K>
std::optional<std::vector<double>> walk(const Outline& outline, const Alterations& all,
                                        const std::vector<AlterationSet>& lanes, Budget& budget) {
  Walk<K> walk(outline, all, lanes, budget);
  if (!walk.run()) return std::nullopt;
  return walk.ends(lanes.size());
}

}  // namespace

std::optional<std::vector<double>> execute_lanes(const Outline& outline, const Alterations& all,
                                                 const std::vector<AlterationSet>& lanes,
                                                 Budget& budget) {
  if (outline.found.contended > 0) return std::nullopt;
  if (lanes.size() <= 4) return walk<4>(outline, all, lanes, budget);
  if (lanes.size() <= 8) return walk<8>(outline, all, lanes, budget);
  if (lanes.size() <= 16) return walk<16>(outline, all, lanes, budget);
  if (lanes.size() <= 24) return walk<24>(outline, all, lanes, budget);
  CULPRIT_CHECK(lanes.size() <= kMostLanes);
  return walk<kMostLanes>(outline, all, lanes, budget);
}

}  // namespace culprit::predict
