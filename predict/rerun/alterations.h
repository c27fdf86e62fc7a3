// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What is tried in a run, each as the difference that it makes to single steps: work at some call
// paths twice as fast, or spread evenly over those who share it (visits.h). Differences of several
// alterations at different call paths add up.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "predict/rerun/scenario.h"
#include "predict/rerun/visits.h"

namespace culprit::predict {

struct Alteration {
  /// Some who share the work.
  struct Group {
    Sharers sharers;
    std::vector<Visits> own;  ///< by member
    std::vector<Means> mean;  ///< one, once it is measured
    double moved_s() const;
  };
  std::vector<CallPathId> paths;
  bool balanced = false;      ///< otherwise everybody is twice as fast
  std::vector<Group> groups;  ///< no location is in two of them
};

/// A set of them, as bits by their numbers.
using AlterationSet = uint32_t;
inline constexpr size_t kMostAlterations = 31;
/// None of them: operations go on while those who have begun them are not in MPI (Pace).
inline constexpr AlterationSet kWithProgress = AlterationSet{1} << kMostAlterations;

class Alterations {
 public:
  Alterations(std::vector<Alteration> list, size_t callpaths, size_t locations);

  /// Walks over all who share work, once for all: fills Group::own and mean.
  void measure(const Outline& outline, unsigned threads, Budget& budget);

  Alteration& operator[](size_t i) { return list_[i]; }
  const Alteration& operator[](size_t i) const { return list_[i]; }
  size_t size() const { return list_.size(); }
  AlterationSet at(uint32_t path) const { return of_path_[path]; }

  /// A location's share in an alteration's group.
  struct Share {
    uint32_t alteration, group, member;
  };
  const std::vector<Share>& of_location(LocationId id) const { return shares_[id.index()]; }
  const Alteration::Group& group(const Share& share) const {
    return list_[share.alteration].groups[share.group];
  }

 private:
  void measure_one(const Outline& outline, LocationId id, Budget& budget);

  std::vector<Alteration> list_;
  std::vector<AlterationSet> of_path_;      ///< by CallPathId
  std::vector<std::vector<Share>> shares_;  ///< by LocationId
};

/// One location's differences, while its steps are passed in order.
class StepDifferences {
 public:
  StepDifferences(const Alterations& all, const Column<Hub>& hubs, LocationId id);

  /// Calls add(alteration, nanoseconds) for each that makes the next step longer or shorter.
  template <class Add>
  void pass(const Step& step, const Add& add) {
    if (step.kind() == StepKind::work) change(step, add);
    if (step.takes_time() && at_.timed == next_given_) give(add);
    if (step.kind() == StepKind::signal) end_parts((*hubs_)[step.what]);
    at_.pass(step);
  }

 private:
  struct Level {
    uint32_t alteration;
    bool of_one_process;
    Leveller leveller;
  };

  template <class Add>
  void change(const Step& step, const Add& add) {
    for (AlterationSet left = all_->at(step.what) & concerned_; left != 0; left &= left - 1) {
      const auto alteration = static_cast<uint32_t>(std::countr_zero(left));
      const auto nanos = static_cast<double>(step.amount);
      if (!(*all_)[alteration].balanced) {
        add(alteration, -0.5 * nanos);
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
  void end_parts(const Hub& hub);
  void find_next_given();

  const Alterations* all_;
  const Column<Hub>* hubs_;
  AlterationSet concerned_ = 0;  ///< that change anything of this location's work
  std::vector<Level> levels_;
  Passage at_;
  uint64_t next_given_ = Passage::kNone;
};

/// What the steps of a graph take with some alterations.
OtherTimes times_with(const Alterations& all, AlterationSet set, const EventGraph& graph);

}  // namespace culprit::predict
