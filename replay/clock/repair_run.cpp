// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Gathers evidence, repairs clocks and applies the new times; first with one clock per node, then
// with one per process if that was not enough.
#include "replay/clock/repair_run.h"

#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "base/parallel.h"
#include "replay/clock/evidence.h"
#include "replay/model/timeline_times.h"

namespace culprit::replay {

namespace {

std::vector<ClockId> one_for_each_node(const Run& run) {
  std::map<std::string_view, ClockId> known;
  std::vector<ClockId> clock_of;
  for (const trace::Process& process : run.definitions->processes) {
    const auto [node, fresh] = known.try_emplace(process.node, ClockId(known.size()));
    clock_of.push_back(node->second);
  }
  return clock_of;
}

std::vector<ClockId> one_for_each_process(const Run& run) {
  std::vector<ClockId> clock_of;
  for (size_t p = 0; p < run.definitions->processes.size(); ++p) clock_of.emplace_back(p);
  return clock_of;
}

/// Gathers only the evidence that matters: first the reversed dependences, then those that the
/// repair might reverse, until no event is moved further than the evidence reaches.
ClockRepair repair(const Run& run, const std::vector<ClockId>& clock_of, unsigned threads) {
  const size_t clocks = std::max_element(clock_of.begin(), clock_of.end())->index() + 1;
  constexpr int64_t kLongest = int64_t{1}
                               << 62;  // the longest span of times that damaged traces may have
  Duration slack = Duration::zero();
  while (true) {
    const Precedence precedence = gather_precedence(run, clock_of, slack, threads);
    ClockRepair repair = repair_clocks(precedence, clocks, threads);
    if (repair.largest <= slack) return repair;
    slack = Duration::from_nanos(4 * std::min(repair.largest.nanos(), kLongest / 4));
  }
}

std::string steps_of(const ClockRepair& repair) {
  return fmt::format("{} us at a time, {} us in total", repair.largest.nanos() / 1e3,
                     repair.total.nanos() / 1e3);
}

/// Extends the last activity, `ended`, of a location that has ended to the end of the run.
void settle_end(Run& run, LocationId id) {
  Timeline& line = run.at(id);
  Activities& life = line.activities;
  life.set_begin(0, run.begin);
  life.set_end(run.end);
  if (life.paths().back() == run.ended) {
    if (life.begins().back() < run.end) return;
    life.begins().pop_back(), life.paths().pop_back();
    return;
  }
  const Timeline& master = run.at(run.master_of(id));
  const bool as_long_as_master = run.is_pool_thread(id) || run.is_stream(id);
  const Time end = as_long_as_master ? std::max(line.last, master.last) : line.last;
  if (end < run.end) life.push_back(end, run.ended);
}

void apply(const std::vector<ClockMap>& maps, const std::vector<ClockId>& clock_of, Run& run,
           unsigned threads) {
  parallel_for(run.locations.size(), threads, [&](size_t i) {
    const LocationId id = run.locations[i];
    const ClockMap& map = maps[clock_of[run.location(id).process.index()].index()];
    if (map.identity()) return;
    ClockMap::Cursor repaired(map);
    for_each_time(run.at(id), [&](Time& time) { time = repaired(time); });
  });
  settle_span(run);
  for (LocationId id : run.locations) {
    settle_end(run, id);
    count_absence(run, id);
  }
  settle_births(run);
}

}  // namespace

bool repair_run(Run& run, unsigned threads) {
  const auto is_own = [](const Run& of) {
    return of.definitions->creator.starts_with(trace::kOwnCreator);
  };
  std::vector<ClockId> clock_of = one_for_each_node(run);
  ClockRepair found = repair(run, clock_of, threads);
  if (found.unrepaired > 0 && !is_own(run)) {
    clock_of = one_for_each_process(run);
    found = repair(run, clock_of, threads);
  }
  if (found.repairs == 0) return false;
  apply(found.maps, clock_of, run, threads);
  if (run.ranks->rank() == 0) {
    run.losses.add(LossKind::clock_repairs, found.repairs, steps_of(found));
  }
  return true;
}

}  // namespace culprit::replay
