// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Call paths form groups, at first by the function that they end in. In each step a group is
// divided by the callers one level above, if some do harm and others none. A group with one caller
// may be divided further up; one whose callers all do harm is settled.
#include "blame/judge/shared_functions.h"

#include <algorithm>
#include <map>
#include <utility>

namespace culprit::blame {
namespace {

/// A caller does hardly any harm if a second in its calls costs less than this part of what one in
/// all calls does: chance makes even work late now and then.
constexpr double kHarmless = 1.0 / 3;
/// That matters if it is at least this part of the function's time.
constexpr double kMatters = 0.05;
constexpr size_t kMostLevels = 8;

struct Use {
  double time_s = 0, cost_s = 0;
};

std::vector<double> times_of(const Findings& findings) {
  std::vector<double> times(findings.callpaths.size());
  for (const FoundProfile& row : findings.profile) times[row.callpath.index()] += row.time_s;
  return times;
}

bool does_harm_by_caller(const Use& all, const std::map<size_t, Use>& callers) {
  double harmless_s = 0;
  for (const auto& [caller, use] : callers) {
    const bool harms = use.cost_s * all.time_s >= kHarmless * all.cost_s * use.time_s;
    if (!harms) harmless_s += use.time_s;
  }
  return harmless_s > 0 && harmless_s >= kMatters * all.time_s;
}

class Settling {
 public:
  Settling(const Findings& findings, const Functions& functions, std::span<const double> costs)
      : functions_(functions), costs_(costs), times_(times_of(findings)) {
    for (size_t i = 0; i < times_.size(); ++i) {
      const CallPathId path(i);
      at_.push_back(path);
      if (times_[i] <= 0 && costs[i] <= 0) continue;
      const CallPathId own = functions.own_path(path);
      if (!is_function(findings.callpaths[own.index()])) continue;
      at_.back() = own;
      groups_[functions.of(own)].push_back(i);
    }
    for (size_t i = 0; i < at_.size(); ++i) origins_.push_back(CallPathId(i));
  }

  std::vector<CallPathId> settle() {
    std::vector<CallPathId> answerable = origins_;
    for (size_t level = 0; level < kMostLevels && !groups_.empty(); ++level) go_up(answerable);
    return answerable;
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;  ///< for a function that nothing calls

  size_t caller_of(size_t path) const {
    const CallPathId caller = functions_.caller(at_[path]);
    return caller.valid() ? functions_.of(caller) : kNone;
  }

  /// Divides the groups of which some callers do no harm, and drops those that are settled.
  void go_up(std::vector<CallPathId>& answerable) {
    std::map<size_t, std::vector<size_t>> next;
    size_t number = 0;
    for (const auto& [group, paths] : groups_) {
      Use all;
      std::map<size_t, Use> callers;
      for (const size_t path : paths) {
        Use& one = callers[caller_of(path)];
        for (Use* use : {&all, &one}) use->time_s += times_[path], use->cost_s += costs_[path];
      }
      const bool divides = does_harm_by_caller(all, callers);
      if (all.cost_s <= 0 || (callers.size() > 1 && !divides)) continue;
      std::map<size_t, size_t> numbers;
      for (const size_t path : paths) {
        const size_t caller = caller_of(path);
        if (caller == kNone) continue;
        at_[path] = functions_.caller(at_[path]);
        if (divides) answerable[path] = at_[path];
        const auto known = numbers.try_emplace(caller, number);
        number += known.second ? 1 : 0;
        next[known.first->second].push_back(path);
      }
    }
    groups_ = std::move(next);
  }

  const Functions& functions_;
  std::span<const double> costs_;
  std::vector<double> times_;
  std::vector<CallPathId> at_, origins_;          // by CallPathId
  std::map<size_t, std::vector<size_t>> groups_;  ///< of call paths with the same way up
};

}  // namespace

std::vector<CallPathId> answerable_paths(const Findings& findings, const Functions& functions,
                                         std::span<const double> costs) {
  return Settling(findings, functions, costs).settle();
}

}  // namespace culprit::blame
