// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// First what each member does in each part of the run, then its steps with other amounts.
#include <algorithm>
#include <memory>
#include <numeric>

#include "predict/rerun/scenario.h"

namespace culprit::predict {

namespace {

/// A part of the run ends for a member where it passes such an operation.
bool ends_part(const EventGraph& graph, const Sharers& sharers, const Step& step) {
  if (step.kind() != StepKind::signal) return false;
  const Hub& hub = graph.hubs[step.what];
  return sharers.of_one_process ? hub.of_team : hub.of_world;
}

bool is_shared(const std::vector<bool>& paths, const Step& step) {
  return step.kind() == StepKind::work && paths[step.what];
}

bool takes_time(const Step& step) {
  return step.kind() == StepKind::work || step.kind() == StepKind::transfer ||
         step.kind() == StepKind::idle;
}

/// One member: its steps, and what they take so far.
class Member {
 public:
  Member(const EventGraph& graph, const std::vector<bool>& paths, const Sharers& sharers,
         LocationId id, OtherTimes& others)
      : graph_(graph), paths_(paths), sharers_(sharers), steps_(graph.steps[id.index()]) {
    auto& times = others[id.index()];
    if (!times) {
      times = std::make_unique<Column<double>>();
      times->resize(steps_.size(), kAsItWas);
    }
    times_ = times.get();
  }

  /// Nanoseconds by part. The last part ends with the run.
  std::vector<double> sum_parts() const {
    std::vector<double> sums(1);
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (is_shared(paths_, steps_[i])) sums.back() += time(i);
      if (ends_part(graph_, sharers_, steps_[i])) sums.push_back(0);
    }
    return sums;
  }

  /// Each part takes it as long as the mean.
  void level(const std::vector<double>& own, const std::vector<double>& mean) {
    size_t part = 0, last = SIZE_MAX;
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (is_shared(paths_, steps_[i])) {
        (*times_)[i] = time(i) * mean[part] / own[part];
      } else if (ends_part(graph_, sharers_, steps_[i])) {
        if (own[part] == 0 && last != SIZE_MAX) (*times_)[last] = time(last) + mean[part];
        ++part;
      }
      if (takes_time(steps_[i])) last = i;
    }
  }

 private:
  double time(size_t i) const {
    if ((*times_)[i] != kAsItWas) return (*times_)[i];
    return steps_[i].kind() == StepKind::idle ? 0 : static_cast<double>(steps_[i].amount);
  }

  const EventGraph& graph_;
  const std::vector<bool>& paths_;
  const Sharers& sharers_;
  const Column<Step>& steps_;
  Column<double>* times_;
};

}  // namespace

void balance(const EventGraph& graph, const std::vector<bool>& paths, const Sharers& sharers,
             OtherTimes& others) {
  if (sharers.members.size() < 2) return;
  std::vector<Member> members;
  std::vector<std::vector<double>> own;
  for (LocationId id : sharers.members) {
    members.emplace_back(graph, paths, sharers, id, others);
    own.push_back(members.back().sum_parts());
  }
  // Members that pass different numbers of operations have no parts in common.
  const bool alike = std::all_of(
      own.begin(), own.end(), [&](const auto& sums) { return sums.size() == own.front().size(); });
  std::vector<double> mean(alike ? own.front().size() : 1);
  for (std::vector<double>& sums : own) {
    if (!alike) sums.assign(sums.size(), std::accumulate(sums.begin(), sums.end(), 0.0));
    for (size_t p = 0; p < mean.size(); ++p) {
      mean[p] += sums[p] / static_cast<double>(members.size());
    }
  }
  for (size_t m = 0; m < members.size(); ++m) {
    std::vector<double> to = mean;
    to.resize(own[m].size(), mean.back());
    members[m].level(own[m], to);
  }
}

}  // namespace culprit::predict
