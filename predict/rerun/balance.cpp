// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// First what each member does in each visit of each part of the run, then its steps with other
// amounts: two walks, however the work is divided (visits.h).
#include <memory>

#include "predict/rerun/scenario.h"
#include "predict/rerun/visits.h"

namespace culprit::predict {

namespace {

/// One member: its steps, and what they take so far.
class Member {
 public:
  Member(const EventGraph& graph, const std::vector<bool>& paths, bool of_one_process,
         LocationId id, OtherTimes& others)
      : graph_(graph),
        paths_(paths),
        of_one_process_(of_one_process),
        steps_(graph.steps[id.index()]),
        times_(other_times(graph, id, others[id.index()])) {}

  Visits measure() const {
    Visits visits;
    Passage at;
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (is_shared(steps_[i])) visits.add(time(i), at);
      if (ends_part(steps_[i], graph_.hubs, of_one_process_)) visits.end_part(at);
      at.pass(steps_[i]);
    }
    visits.finish(at);
    return visits;
  }

  void level(const Visits& own, const Means& mean) {
    Leveller leveller(own, mean);
    Passage at;
    for (size_t i = 0; i < steps_.size(); ++i) {
      const Step& step = steps_[i];
      if (is_shared(step)) times_[i] = time(i) + leveller.difference(time(i), at);
      while (step.takes_time() && leveller.next_given() == at.timed) {
        times_[i] = time(i) + leveller.take_given();
      }
      if (ends_part(step, graph_.hubs, of_one_process_)) leveller.end_part();
      at.pass(step);
    }
  }

 private:
  bool is_shared(const Step& step) const {
    return step.kind() == StepKind::work && paths_[step.what];
  }
  double time(size_t i) const {
    if (times_[i] != kAsItWas) return times_[i];
    return steps_[i].kind() == StepKind::idle ? 0 : static_cast<double>(steps_[i].amount);
  }

  const EventGraph& graph_;
  const std::vector<bool>& paths_;
  const bool of_one_process_;
  const Column<Step>& steps_;
  Column<double>& times_;
};

}  // namespace

void balance(const EventGraph& graph, const std::vector<bool>& paths, const Sharers& sharers,
             OtherTimes& others) {
  if (sharers.members.size() < 2) return;
  std::vector<Member> members;
  std::vector<Visits> own;
  for (LocationId id : sharers.members) {
    members.emplace_back(graph, paths, sharers.of_one_process, id, others);
    own.push_back(members.back().measure());
  }
  const Means mean(own);
  for (size_t m = 0; m < members.size(); ++m) members[m].level(own[m], mean);
}

}  // namespace culprit::predict
