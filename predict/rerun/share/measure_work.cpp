// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// BusyStretches are cut once for all alterations that are shared alike.
#include "predict/rerun/share/measure_work.h"

#include <algorithm>
#include <map>

#include "base/parallel.h"
#include "base/ranks/agree.h"
#include "base/ranks/exchange.h"
#include "predict/rerun/share/phases.h"

namespace culprit::predict {

void LocationWork::pass(const Step& step, double nanos) {
  if (step.kind() == StepKind::work) {
    const AlterationSet set = all_->at(step.what);
    for (const Own& own : own_) {
      if ((set >> own.alteration & 1) == 0) continue;
      const BusyStretches& at = *stretches_[static_cast<size_t>(own.over)];
      own.portion->add(nanos, at_, at, (*units_)[step.what]);
    }
  }
  for (BusyStretches* stretches : stretches_) {
    if (stretches != nullptr) stretches->pass(step, nanos, at_);
  }
  at_.pass(step);
}

void LocationWork::finish() {
  for (BusyStretches* stretches : stretches_) {
    if (stretches != nullptr) stretches->finish(at_);
  }
}

WorkMeasure::WorkMeasure(const replay::Run& run, const MeetingFacts& facts,
                         const std::vector<CallPathId>& loops, const Alterations& all)
    : run_(run),
      facts_(facts),
      all_(all),
      units_(units_of(run, loops)),
      stretches_(run.timelines.size()),
      portions_(all.size()) {
  for (uint32_t a = 0; a < all.size(); ++a) {
    if (all[a].way == Way::balanced) portions_[a].resize(all[a].sharers.members.size());
  }
}

LocationWork WorkMeasure::begin(LocationId id) {
  LocationWork work(all_, units_);
  for (const Alterations::Membership& own : all_.of_location(id)) {
    const Over over = all_[own.alteration].sharers.over;
    const auto place = static_cast<size_t>(over);
    std::vector<BusyStretches>& stretches = stretches_[id.index()][place];
    if (stretches.empty()) {
      std::span<const PassedAt> passed;
      if (over == Over::all) passed = facts_.passed[run_.location(id).process.index()];
      stretches.emplace_back(facts_.hubs, facts_.meetings, over, run_.begin, passed);
      work.stretches_[place] = &stretches.front();
    }
    work.own_.push_back({own.alteration, over, &portions_[own.alteration][own.member]});
  }
  return work;
}

Spread WorkMeasure::spread(uint32_t alteration) const {
  const Sharers& sharers = all_[alteration].sharers;
  const bool of_processes = sharers.over == Over::threads;
  std::vector<Member> members;
  std::vector<EndPhase> ends;
  if (!of_processes) ends.emplace_back();
  std::map<ProcessId, uint32_t> of_process;  // of threads that are no masters
  for (size_t m = 0; m < sharers.members.size(); ++m) {
    const LocationId id = sharers.members[m];
    const uint32_t pool = id.index() < facts_.pools.size() ? facts_.pools[id.index()] : 0;
    uint32_t end = 0;
    if (of_processes) {
      end = static_cast<uint32_t>(ends.size());
      if (pool == 0) end = of_process.try_emplace(run_.location(id).process, end).first->second;
      if (end == ends.size()) ends.push_back({pool});
    }
    members.push_back({&stretches_[id.index()][static_cast<size_t>(sharers.over)].front().list(),
                       &portions_[alteration][m], end});
  }
  if (of_processes || run_.ranks->alone()) {
    return spread_evenly(members, facts_.meetings, ends, sharers.over);
  }
  const PhasesElsewhere elsewhere{*run_.ranks, facts_.elsewhere};
  return spread_evenly(members, facts_.meetings, ends, sharers.over, &elsewhere);
}

namespace {

/// Of all ranks, each once.
std::vector<CallPathId> all_loops(Transport& ranks, const std::vector<CallPathId>& own) {
  std::vector<CallPathId> loops = concatenate(ranks, own);
  std::sort(loops.begin(), loops.end());
  loops.erase(std::unique(loops.begin(), loops.end()), loops.end());
  return loops;
}

/// Over all ranks.
void add_up_savings(Transport& ranks, Alterations& all) {
  std::vector<double> savings;
  for (uint32_t a = 0; a < all.size(); ++a) {
    savings.push_back(all[a].spread.saves_s);
    savings.push_back(all[a].spread.earlier_s);
  }
  add_up(ranks, savings);
  for (uint32_t a = 0; a < all.size(); ++a) {
    all[a].spread.saves_s = savings[2 * a];
    all[a].spread.earlier_s = savings[2 * a + 1];
  }
}

}  // namespace

void measure(const Outline& outline, unsigned threads, Budget& budget, Alterations& all) {
  const Dependences& found = outline.found;
  Transport& ranks = *outline.run.ranks;
  WorkMeasure measure(
      outline.run,
      {found.hubs, found.meetings, found.pools, outline.passed, found.meetings_elsewhere},
      all_loops(ranks, found.loops), all);
  const std::vector<LocationId>& locations = outline.run.locations;
  const auto pass = [&](size_t i) {
    if (all.of_location(locations[i]).empty()) return;
    LocationWork own = measure.begin(locations[i]);
    StepReader reader(outline, locations[i]);
    Spender spender(budget);
    for (Step step{}; reader.next(step);) {
      spender.step();
      own.pass(step, static_cast<double>(step.amount));
    }
    own.finish();
  };
  bool spent = false;
  try {
    parallel_for(locations.size(), threads, pass);
  } catch (const BudgetSpent&) {
    spent = true;
  }
  if (any(ranks, spent)) throw BudgetSpent();
  for (uint32_t a = 0; a < all.size(); ++a) {
    if (all[a].way == Way::balanced) all[a].spread = measure.spread(a);
  }
  add_up_savings(ranks, all);
}

}  // namespace culprit::predict
