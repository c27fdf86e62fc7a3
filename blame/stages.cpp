// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Mostly a process's master alone tells of a phase; then its other threads are in it, too, as long
// as they do not tell of it themselves.
#include "blame/stages.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace culprit::blame {

namespace {

using replay::StageVisit;
using replay::Wait;

class Stages {
 public:
  Stages(const replay::Run& run, const replay::WaitGraph& graph) : run_(run), graph_(graph) {}

  std::vector<FoundStage> collect() {
    tell_.resize(run_.timelines.size());
    for (LocationId id : run_.locations) {
      for (const StageVisit& visit : run_.at(id).stages) tell_[id.index()].insert(visit.region);
    }
    for (LocationId teller : run_.locations) {
      const std::vector<StageVisit>& visits = run_.at(teller).stages;
      for (size_t i = 0; i < visits.size(); ++i)
        add(teller, visits[i], i > 0 ? &visits[i - 1] : nullptr);
    }
    std::vector<FoundStage> found;
    for (auto& [key, row] : rows_) found.push_back(std::move(row));
    return found;
  }

 private:
  void add(LocationId teller, const StageVisit& visit, const StageVisit* before) {
    const trace::Region& region = run_.regions[visit.region.index()];
    const bool iteration = region.role == trace::RegionRole::iteration;
    FoundStage& row = rows_[{iteration, region.name, visit.number}];
    row.kind = iteration ? "iteration" : "phase";
    row.name = region.name;
    row.number = visit.number;
    // Where a function ended in between, a visit comes in pieces.
    const bool goes_on = before != nullptr && before->region == visit.region &&
                         before->number == visit.number && before->end == visit.begin;
    if (!goes_on) {
      ++row.visits;
      begin_ = visit.begin;
    }
    const double length = (visit.end - begin_).seconds();
    if (length > row.longest_s || !row.longest_location.valid()) {
      row.longest_s = length;
      row.longest_location = teller;
    }
    for (LocationId id :
         run_.definitions->processes[run_.location(teller).process.index()].locations) {
      if (run_.at(id).empty() || (id != teller && tell_[id.index()].contains(visit.region)))
        continue;
      row.time_s += (visit.end - visit.begin).seconds();
      row.waiting_s += waiting(id, visit.begin, visit.end);
    }
  }

  /// Waits may contain work (tasks in a barrier); of one that is cut, its share counts.
  double waiting(LocationId id, Time begin, Time end) const {
    const Column<Wait>& waits = graph_.waits[id.index()];
    double sum = 0;
    auto wait = std::lower_bound(waits.begin(), waits.end(), begin,
                                 [](const Wait& w, Time t) { return w.end <= t; });
    for (; wait != waits.end() && wait->begin < end; ++wait) {
      const Duration inside = std::min(wait->end, end) - std::max(wait->begin, begin);
      sum += wait->amount.seconds() * inside.seconds() / (wait->end - wait->begin).seconds();
    }
    return sum;
  }

  const replay::Run& run_;
  const replay::WaitGraph& graph_;
  std::map<std::tuple<bool, std::string, int64_t>, FoundStage> rows_;
  std::vector<std::set<RegionId>> tell_;  ///< by LocationId: the stages that it tells of
  Time begin_;                            ///< of the visit that may come in pieces
};

}  // namespace

std::vector<FoundStage> collect_stages(const replay::Run& run, const replay::WaitGraph& graph) {
  return Stages(run, graph).collect();
}

}  // namespace culprit::blame
