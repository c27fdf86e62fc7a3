// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// First what each member does in each visit of each part of the run, then its steps with other
// amounts. Operations that all pass tell parts for certain. Without them (neighbours that exchange
// data) the count of visits does: the k-th of one is the k-th of all, if all have as many.
#include <algorithm>
#include <memory>

#include "predict/rerun/scenario.h"

namespace culprit::predict {

namespace {

/// Nanoseconds by visit of a part of the run, and together: each step asks for the sum.
class Visits {
 public:
  explicit Visits(size_t size = 0) : nanos_(size) {}
  void begin_one() { nanos_.push_back(0); }
  void add_to_last(double nanos) { add(nanos_.size() - 1, nanos); }
  void add(size_t visit, double nanos) {
    nanos_[visit] += nanos;
    sum_ += nanos;
  }
  double operator[](size_t visit) const { return nanos_[visit]; }
  double sum() const { return sum_; }
  size_t size() const { return nanos_.size(); }
  bool empty() const { return nanos_.empty(); }

 private:
  std::vector<double> nanos_;
  double sum_ = 0;
};
using Parts = std::vector<Visits>;

bool takes_time(const Step& step) {
  return step.kind() == StepKind::work || step.kind() == StepKind::transfer ||
         step.kind() == StepKind::idle;
}

/// Where a location and others meet.
bool communicates(const Step& step) {
  return step.kind() == StepKind::signal || step.kind() == StepKind::gate;
}

/// One member: its steps, and what they take so far.
class Member {
 public:
  Member(const EventGraph& graph, const std::vector<bool>& paths, const Sharers& sharers,
         LocationId id, OtherTimes& others)
      : graph_(graph), paths_(paths), sharers_(sharers), steps_(graph.steps[id.index()]) {
    times_ = &other_times(graph, id, others[id.index()]);
  }

  /// The last part ends with the run; not `in_parts`, it is the only one.
  Parts measure(bool in_parts) const {
    Parts parts(1);
    bool met = true;  // others, since the last visit
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (is_shared(steps_[i])) {
        if (met) parts.back().begin_one();
        met = false;
        parts.back().add_to_last(time(i));
      } else if (communicates(steps_[i])) {
        met = true;
        if (in_parts && ends_part(steps_[i])) parts.emplace_back();
      }
    }
    return parts;
  }

  /// Each part, or each of its visits, takes it as long as the mean. Walks as measure() does.
  void level(bool in_parts, const Parts& own, const Parts& mean) {
    size_t part = 0, visit = 0, last = SIZE_MAX, place = SIZE_MAX;
    bool met = true;
    for (size_t i = 0; i < steps_.size(); ++i) {
      if (is_shared(steps_[i])) {
        const bool begins = met && (visit == 0 || mean[part].size() == own[part].size());
        if (met) ++visit;
        met = false;
        share(i, begins, own[part], mean[part], visit - 1);
      } else if (communicates(steps_[i])) {
        met = true;
        if (steps_[i].kind() == StepKind::signal) place = last;
        if (in_parts && ends_part(steps_[i])) {
          give(last, own[part], mean[part]);
          ++part, visit = 0;
        }
      }
      if (takes_time(steps_[i])) last = i;
    }
    give(place != SIZE_MAX ? place : last, own[part], mean[part]);
  }

 private:
  /// A part of the run ends for a member where it passes such an operation.
  bool ends_part(const Step& step) const {
    if (step.kind() != StepKind::signal) return false;
    const Hub& hub = graph_.hubs[step.what];
    return sharers_.of_one_process ? hub.of_team : hub.of_world;
  }
  bool is_shared(const Step& step) const {
    return step.kind() == StepKind::work && paths_[step.what];
  }

  double time(size_t i) const {
    if ((*times_)[i] != kAsItWas) return (*times_)[i];
    return steps_[i].kind() == StepKind::idle ? 0 : static_cast<double>(steps_[i].amount);
  }

  void share(size_t i, bool begins, const Visits& own, const Visits& mean, size_t visit) {
    const bool by_visit = mean.size() == own.size();
    const double had = by_visit ? own[visit] : own.sum();
    const double gets = by_visit ? mean[visit] : mean.sum();
    (*times_)[i] = had > 0 ? time(i) * gets / had : begins ? gets : 0;
  }

  /// Its share, if it does nothing there in this part.
  void give(size_t i, const Visits& own, const Visits& mean) {
    if (own.empty() && !mean.empty() && i != SIZE_MAX) (*times_)[i] = time(i) + mean[0];
  }

  const EventGraph& graph_;
  const std::vector<bool>& paths_;
  const Sharers& sharers_;
  const Column<Step>& steps_;
  Column<double>* times_;
};

/// The k-th part of all members: one mean, or one of each visit.
Visits mean_of(const std::vector<Parts>& own, size_t part) {
  const size_t visits = own.front()[part].size();
  const bool alike = std::all_of(own.begin(), own.end(),
                                 [&](const Parts& parts) { return parts[part].size() == visits; });
  Visits mean(alike ? visits : 1);
  for (const Parts& parts : own) {
    for (size_t v = 0; v < mean.size(); ++v) {
      const double time = alike ? parts[part][v] : parts[part].sum();
      mean.add(v, time / static_cast<double>(own.size()));
    }
  }
  return mean;
}

double moved(const Visits& own, const Visits& mean) {
  if (mean.size() != own.size()) return std::max(0.0, own.sum() - mean.sum());
  double moved = 0;
  for (size_t v = 0; v < own.size(); ++v) moved += std::max(0.0, own[v] - mean[v]);
  return moved;
}

}  // namespace

double balance(const EventGraph& graph, const std::vector<bool>& paths, const Sharers& sharers,
               OtherTimes& others) {
  if (sharers.members.size() < 2) return 0;
  std::vector<Member> members;
  std::vector<Parts> own;
  const auto measure = [&](bool in_parts) {
    own.clear();
    for (const Member& member : members) own.push_back(member.measure(in_parts));
  };
  for (LocationId id : sharers.members) members.emplace_back(graph, paths, sharers, id, others);
  measure(true);
  // Members that pass different numbers of operations have no parts in common.
  const bool alike = std::all_of(own.begin(), own.end(), [&](const Parts& parts) {
    return parts.size() == own.front().size();
  });
  if (!alike) measure(false);
  Parts mean;
  for (size_t part = 0; part < own.front().size(); ++part) mean.push_back(mean_of(own, part));
  double moved_ns = 0;
  for (size_t m = 0; m < members.size(); ++m) {
    for (size_t part = 0; part < mean.size(); ++part) moved_ns += moved(own[m][part], mean[part]);
    members[m].level(alike, own[m], mean);
  }
  return moved_ns;
}

}  // namespace culprit::predict
