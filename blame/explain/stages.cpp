// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Mostly only the master thread of a process marks a phase; its other threads then count as in the
// phase, too, unless they mark it themselves. Each visit is summed in parallel; visits are then
// joined in order of process, so that a stage needs no memory for each process.
#include "blame/explain/stages.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/parallel.h"
#include "base/ranks/exchange.h"
#include "blame/findings/findings_fields.h"
#include "blame/profile/path_kinds.h"
#include "blame/profile/stretches.h"

namespace culprit::blame {

namespace {

using replay::StageVisit;
using replay::Wait;

/// The times of a process's threads in one visit.
struct Inside {
  double held_s = 0;  ///< by all of them, as long as they live
  double waiting_s = 0, useful_s = 0;
};

/// A stage, and the process that is being added to it.
struct Row {
  FoundStage stage;
  ProcessId process;
  double own_s = 0, own_useful_s = 0;  ///< of the process, for each thread
  struct {
    size_t processes = 0;
    double useful_s = 0, largest_useful_s = 0, longest_s = 0;
  } sums;  ///< of the processes before it

  void finish_process() {
    if (!process.valid()) return;
    ++sums.processes;
    sums.useful_s += own_useful_s;
    sums.largest_useful_s = std::max(sums.largest_useful_s, own_useful_s);
    sums.longest_s = std::max(sums.longest_s, own_s);
    own_s = own_useful_s = 0;
  }

  /// Adds the row of later processes.
  void add(const Row& o) {
    stage.visits += o.stage.visits;
    stage.begin_s = std::min(stage.begin_s, o.stage.begin_s);
    stage.end_s = std::max(stage.end_s, o.stage.end_s);
    stage.time_s += o.stage.time_s;
    stage.waiting_s += o.stage.waiting_s;
    stage.useful_s += o.stage.useful_s;
    if (o.stage.longest_s > stage.longest_s) {
      stage.longest_s = o.stage.longest_s;
      stage.longest_location = o.stage.longest_location;
    }
    sums.processes += o.sums.processes;
    sums.useful_s += o.sums.useful_s;
    sums.largest_useful_s = std::max(sums.largest_useful_s, o.sums.largest_useful_s);
    sums.longest_s = std::max(sums.longest_s, o.sums.longest_s);
  }
};

class Stages {
 public:
  Stages(const replay::Run& run, const replay::WaitGraph& graph)
      : run_(run), graph_(graph), kinds_(path_kinds(run)) {}

  std::vector<FoundStage> collect(unsigned threads, Budget& budget) {
    find_tellers();
    std::vector<std::vector<Inside>> inside(tellers_.size());
    parallel_for(tellers_.size(), threads, [&](size_t i) {
      Spender spender(budget);
      for (const StageVisit& visit : run_.at(tellers_[i]).stages) {
        inside[i].push_back(look_into(tellers_[i], visit, spender));
      }
    });
    for (size_t i = 0; i < tellers_.size(); ++i) add_visits(tellers_[i], inside[i]);
    for (auto& [key, row] : rows_) row.finish_process();
    if (!run_.ranks->alone()) join_ranks();
    std::vector<FoundStage> found;
    for (auto& [key, row] : rows_) {
      if (row.sums.largest_useful_s > 0) {
        row.stage.load_balance =
            row.sums.useful_s / static_cast<double>(row.sums.processes) / row.sums.largest_useful_s;
      }
      if (row.sums.longest_s > 0)
        row.stage.communication = row.sums.largest_useful_s / row.sums.longest_s;
      found.push_back(std::move(row.stage));
    }
    return found;
  }

 private:
  /// Finds the threads that mark stages, in order of process, and whether a process has several of
  /// them.
  void find_tellers() {
    tell_.resize(run_.timelines.size());
    for (LocationId id : run_.locations) {
      for (const StageVisit& visit : run_.at(id).stages) tell_[id.index()].insert(visit.region);
      if (!run_.at(id).stages.empty()) tellers_.push_back(id);
    }
    std::stable_sort(tellers_.begin(), tellers_.end(), [&](LocationId a, LocationId b) {
      return run_.location(a).process < run_.location(b).process;
    });
  }

  Inside look_into(LocationId teller, const StageVisit& visit, Spender& spender) const {
    Inside inside;
    for (LocationId id :
         run_.definitions->processes[run_.location(teller).process.index()].locations) {
      spender.step();
      if (run_.at(id).empty() || run_.is_stream(id)) continue;
      if (id != teller && tell_[id.index()].contains(visit.region)) continue;
      const replay::Run::Life life = run_.life(id);
      const Time begin = std::max(visit.begin, life.begin), end = std::min(visit.end, life.end);
      if (begin >= end) continue;
      inside.held_s += (end - begin).seconds();
      for_each_stretch(run_, id, graph_.waits[id.index()], begin, end,
                       [&](Time since, Time until, CallPathId path, const Wait* wait) {
                         spender.step();
                         if (run_.between(id, path)) {
                           inside.held_s -= (until - since).seconds();
                         } else if (wait != nullptr && replay::counts_as_waiting(wait->pattern)) {
                           inside.waiting_s += (until - since).seconds();
                         } else if (kinds_[path.index()] == PathKind::work) {
                           inside.useful_s += (until - since).seconds();
                         }
                       });
    }
    return inside;
  }

  void add_visits(LocationId teller, const std::vector<Inside>& inside) {
    const std::vector<StageVisit>& visits = run_.at(teller).stages;
    Time begin;  // of the visit, which may be recorded in pieces
    for (size_t i = 0; i < visits.size(); ++i) {
      // Where a function ended in between, a visit is recorded in pieces.
      const StageVisit &visit = visits[i], *before = i > 0 ? &visits[i - 1] : nullptr;
      const bool goes_on = before != nullptr && before->region == visit.region &&
                           before->number == visit.number && before->end == visit.begin;
      if (!goes_on) begin = visit.begin;
      Row& row = row_of(visit);
      row.stage.visits += !goes_on;
      row.stage.begin_s = std::min(row.stage.begin_s, (begin - run_.begin).seconds());
      row.stage.end_s = std::max(row.stage.end_s, (visit.end - run_.begin).seconds());
      const double length = (visit.end - begin).seconds();
      if (length > row.stage.longest_s || !row.stage.longest_location.valid()) {
        row.stage.longest_s = length;
        row.stage.longest_location = teller;
      }
      add_times(row, run_.location(teller).process, inside[i]);
    }
  }

  Row& row_of(const StageVisit& visit) {
    const trace::Region& region = run_.regions[visit.region.index()];
    const StageKind kind =
        region.role == trace::RegionRole::iteration ? StageKind::iteration : StageKind::phase;
    const auto [at, fresh] = rows_.try_emplace({kind, region.name, visit.number});
    Row& row = at->second;
    if (fresh) {
      row.stage.kind = kind;
      row.stage.name = region.name;
      row.stage.number = visit.number;
      row.stage.begin_s = (visit.begin - run_.begin).seconds();
    }
    return row;
  }

  /// A process with several marking threads counts with their mean.
  void add_times(Row& row, ProcessId process, const Inside& inside) {
    row.stage.time_s += inside.held_s;
    row.stage.waiting_s += inside.waiting_s;
    row.stage.useful_s += inside.useful_s;
    if (row.process != process) {
      row.finish_process();
      row.process = process;
    }
    const double all = static_cast<double>(threads_of(process));
    row.own_s += inside.held_s / all;
    row.own_useful_s += inside.useful_s / all;
  }

  /// The rows of all ranks. Processes are in the order of ranks.
  void join_ranks() {
    Packer own;
    for (const auto& [key, row] : rows_) {
      visit_fields(row.stage, [&](const auto& field) { own.put(field); });
      own.put(row.sums);
    }
    rows_.clear();
    for (const Parcel& parcel : gather_everywhere(*run_.ranks, own.take())) {
      for (Unpacker rows(parcel); !rows.done();) {
        Row row;
        visit_fields(row.stage, [&](auto& field) { rows.get_into(field); });
        rows.get_into(row.sums);
        const auto [known, fresh] =
            rows_.try_emplace({row.stage.kind, row.stage.name, row.stage.number}, row);
        if (!fresh) known->second.add(row);
      }
    }
  }

  size_t threads_of(ProcessId process) const {
    size_t count = 0;
    for (LocationId id : run_.definitions->processes[process.index()].locations) {
      count += !run_.at(id).empty() && !run_.is_stream(id);
    }
    return count;
  }

  const replay::Run& run_;
  const replay::WaitGraph& graph_;
  const std::vector<PathKind> kinds_;
  std::map<std::tuple<StageKind, std::string, int64_t>, Row> rows_;
  std::vector<std::set<RegionId>> tell_;  ///< by LocationId: the stages that it mentions
  std::vector<LocationId> tellers_;
};

}  // namespace

std::vector<FoundStage> collect_stages(const replay::Run& run, const replay::WaitGraph& graph,
                                       unsigned threads, Budget& budget) {
  return Stages(run, graph).collect(threads, budget);
}

}  // namespace culprit::blame
