// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The alterations that are tried in a run, each as its differences to single steps: work at some
// call paths twice as fast, or spread evenly over the locations that could share it
// (share/spread.h). Differences of several alterations at different call paths add up.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "predict/rerun/scenario.h"
#include "predict/rerun/share/spread.h"

namespace culprit::predict {

enum class Way : uint8_t {
  halved,  ///< everybody is twice as fast
  held,    ///< likewise, while a lock is held, as far as it is recorded who holds it when
  balanced,
};

struct Alteration {
  std::vector<CallPathId> paths;
  Way way = Way::halved;
  Sharers sharers;             ///< of balanced work
  Spread spread;               ///< once it is measured
  bool locks_recorded = true;  ///< of Way::held; otherwise all of the work is done under the lock
};

/// A set of them, as bits by their numbers.
using AlterationSet = uint64_t;
inline constexpr size_t kMostAlterations = 48;
/// A bit that is no alteration: operations progress while the processes that began them are not in
/// MPI (Pace).
inline constexpr AlterationSet kWithProgress = AlterationSet{1} << kMostAlterations;

class Alterations {
 public:
  Alterations(std::vector<Alteration> list, size_t callpaths, size_t locations);

  Alteration& operator[](size_t i) { return list_[i]; }
  const Alteration& operator[](size_t i) const { return list_[i]; }
  size_t size() const { return list_.size(); }
  AlterationSet at(uint32_t path) const { return of_path_[path]; }

  /// A location that shares an alteration's work.
  struct Membership {
    uint32_t alteration, member;
  };
  const std::vector<Membership>& of_location(LocationId id) const {
    return memberships_[id.index()];
  }

 private:
  std::vector<Alteration> list_;
  std::vector<AlterationSet> of_path_;                ///< by CallPathId
  std::vector<std::vector<Membership>> memberships_;  ///< by LocationId
};

/// One location's differences, while its steps are passed in order.
class StepDifferences {
 public:
  StepDifferences(const Alterations& all, LocationId id);

  /// Calls add(alteration, nanoseconds) for each that makes the next step longer or shorter.
  template <class Add>
  void pass(const Step& step, const Add& add) {
    if (step.kind() == StepKind::work) change(step, add);
    if (step.takes_time() && at_.timed == next_given_) give(add);
    if (step.kind() == StepKind::lock) ++held_;
    if (step.kind() == StepKind::unlock && held_ > 0) --held_;
    at_.pass(step);
  }

 private:
  struct Level {
    uint32_t alteration;
    Leveller leveller;
  };

  template <class Add>
  void change(const Step& step, const Add& add) {
    for (AlterationSet left = all_->at(step.what) & concerned_; left != 0; left &= left - 1) {
      const auto alteration = static_cast<uint32_t>(std::countr_zero(left));
      const auto nanos = static_cast<double>(step.amount);
      const Alteration& change = (*all_)[alteration];
      if (change.way != Way::balanced) {
        const bool counts = change.way == Way::halved || held_ > 0 || !change.locks_recorded;
        if (counts) add(alteration, -0.5 * nanos);
        continue;
      }
      for (Level& level : levels_) {
        if (level.alteration == alteration) add(alteration, level.leveller.difference(nanos, at_));
      }
    }
  }
  template <class Add>
  void give(const Add& add) {
    for (Level& level : levels_) {
      while (level.leveller.next_given() == at_.timed) {
        add(level.alteration, level.leveller.take_given());
      }
    }
    find_next_given();
  }
  void find_next_given();

  const Alterations* all_;
  AlterationSet concerned_ = 0;  ///< that change anything of this location's work
  std::vector<Level> levels_;
  Passage at_;
  uint32_t held_ = 0;  ///< locks
  uint32_t next_given_ = Passage::kNone;
};

/// Returns the times of the steps of a graph with some alterations.
OtherTimes times_with(const Alterations& all, AlterationSet set, const EventGraph& graph);

}  // namespace culprit::predict
