// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// However many ranks share a trace, replay finds the same in it: each location, on the rank that
// owns it, must have what it has where one rank has all. Random traces, also with clocks to repair
// and with locations that are missing.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "replay/model/run.h"
#include "replay/model/waits.h"
#include "tests/support/rank_threads.h"
#include "tests/unit/blame/random_trace.h"
#include "tests/unit/blame/special_traces.h"

namespace culprit::replay {
namespace {

using testing_support::DamagedTrace;
using testing_support::ManyBarriers;
using testing_support::OneTag;
using testing_support::RandomTrace;
using testing_support::RankThreads;
using testing_support::RingOfPipes;

/// What one rank came to. (Its transport is gone.)
struct Replayed {
  Run run;
  WaitGraph graph;
};

/// By rank; nothing if the trace was refused, which all ranks must do.
std::vector<Replayed> replay_on(size_t size, const trace::Source& trace, unsigned threads) {
  std::vector<std::optional<Replayed>> all(size);
  RankThreads(size).run([&](Transport& ranks) {
    auto run = read_run(trace, ranks, threads);
    if (!run) return;
    WaitGraph graph = detect_waits(*run, threads);
    all[ranks.rank()] = Replayed{std::move(*run), std::move(graph)};
  });
  std::vector<Replayed> replayed;
  for (std::optional<Replayed>& one : all) {
    if (one) replayed.push_back(std::move(*one));
  }
  EXPECT_TRUE(replayed.empty() || replayed.size() == size) << "ranks do not agree on an error";
  return replayed;
}

// --- everything of a location that the explanations see, as text -----------------------------

using Lines = std::vector<std::string>;

template <class... Fields>
void add(Lines& lines, const char* what, const Fields&... fields) {
  std::string line = what;
  ((line += " " + std::to_string(fields)), ...);
  lines.push_back(std::move(line));
}

size_t number(CallPathId path) {
  return path.valid() ? path.index() : SIZE_MAX;
}

void add(Lines& lines, const Sync& sync, const std::vector<SyncGroup>& groups) {
  if (!sync.of_group()) {
    return add(lines, "met", sync.moment().nanos(), sync.partner().index());
  }
  add(lines, "met in", sync.moment().nanos());
  for (LocationId member : groups[sync.group().index()].members) {
    lines.back() += " " + std::to_string(member.index());
  }
}

Lines describe(const Replayed& all, LocationId id) {
  Lines lines;
  const size_t l = id.index();
  const Activities& life = all.run.at(id).activities;
  for (size_t i = 0; i < life.size(); ++i) {
    add(lines, "activity", life.begin(i).nanos(), life.end(i).nanos(), number(life.path(i)));
  }
  for (const Wait& w : all.graph.waits[l]) {
    add(lines, "wait", w.begin.nanos(), w.end.nanos(), w.amount.nanos(), number(w.path),
        w.cause.index(), w.activity, static_cast<int>(w.pattern));
  }
  Lines met;  // each rank has numbers of its own for groups, and an order of those at one moment
  for (const Sync& sync : all.graph.syncs[l]) add(met, sync, all.graph.groups);
  std::sort(met.begin(), met.end());
  lines.insert(lines.end(), met.begin(), met.end());
  for (const LockWait& w : all.graph.lock_waits[l]) {
    add(lines, "lock", w.begin.nanos(), number(w.acquired), number(w.released));
  }
  for (const Polling& p : all.graph.pollings[l]) {
    add(lines, "polling", p.begin.nanos(), p.end.nanos(), number(p.path), p.sender.index());
  }
  for (size_t c = 0; c < all.run.visits[l].size(); ++c) {
    add(lines, "visits", c, all.run.visits[l][c]);
  }
  for (const StageVisit& stage : all.run.at(id).stages) {
    add(lines, "stage", stage.begin.nanos(), stage.end.nanos());
  }
  add(lines, "first", all.run.at(id).first.nanos(), all.run.at(id).last.nanos());
  return lines;
}

/// What all ranks must know alike.
Lines describe(const Run& run) {
  Lines lines;
  add(lines, "span", run.begin.nanos(), run.end.nanos(), run.last.index());
  for (const CallPathTree::Node& node : run.callpaths.nodes()) {
    add(lines, "path", number(node.parent), node.region.index());
  }
  for (CallPathId path : {run.not_started, run.idle, run.waking, run.ended, run.outside}) {
    add(lines, "own path", number(path));
  }
  return lines;
}

void expect_same(const Lines& expected, const Lines& found, const std::string& where) {
  EXPECT_EQ(expected.size(), found.size()) << where;
  for (size_t i = 0; i < std::min(expected.size(), found.size()); ++i) {
    EXPECT_EQ(expected[i], found[i]) << where;
    if (expected[i] != found[i]) return;
  }
}

std::map<std::string, uint64_t> losses_of(const std::vector<Replayed>& ranks) {
  std::map<std::string, uint64_t> counts;
  for (const Replayed& rank : ranks) {
    for (const auto& [name, loss] : rank.run.losses.all()) {
      counts[name + ": " + loss.advice] += loss.count;
    }
  }
  return counts;
}

void expect_same(const Replayed& one, const std::vector<Replayed>& many, const std::string& where) {
  uint64_t events = 0;
  std::vector<LocationId> locations;
  for (const Replayed& rank : many) {
    expect_same(describe(one.run), describe(rank.run), where);
    events += rank.run.events;
    locations.insert(locations.end(), rank.run.locations.begin(), rank.run.locations.end());
    for (LocationId id : rank.run.locations) {
      expect_same(describe(one, id), describe(rank, id),
                  where + " location " + std::to_string(id.index()));
    }
  }
  EXPECT_EQ(events, one.run.events) << where;
  std::sort(locations.begin(), locations.end());
  EXPECT_EQ(locations, one.run.locations) << where;
}

/// Whatever there is to find, on so many ranks. True if there is anything at all.
bool check(const trace::Source& trace, std::initializer_list<size_t> sizes,
           const std::string& name) {
  const std::vector<Replayed> one = replay_on(1, trace, 1);
  for (size_t size : sizes) {
    const std::string where = name + " on " + std::to_string(size) + " ranks:";
    const std::vector<Replayed> many = replay_on(size, trace, 1 + size % 2);
    EXPECT_EQ(one.empty(), many.empty()) << where;
    if (one.empty() || many.empty()) continue;
    expect_same(one[0], many, where);
    EXPECT_EQ(losses_of(one), losses_of(many)) << where;
  }
  return !one.empty();
}

std::string seed_name(uint32_t seed) {
  return "seed " + std::to_string(seed);
}

TEST(ReplayOnRanks, FindsTheSame) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    check(RandomTrace::make(seed, {.no_ties = seed % 2 == 1}), {2, 3, 7}, seed_name(seed));
    if (HasFailure()) return;
  }
}

TEST(ReplayOnRanks, FindsTheSameInLargerTraces) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    check(RandomTrace::make(seed, {.renamed = seed % 2 == 1, .ranks = 11}), {2, 5, 11},
          seed_name(seed));
    if (HasFailure()) return;
  }
}

TEST(ReplayOnRanks, TakesTheSameMessageForAnother) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const OneTag trace(seed);
    check(trace, {2, 3, 4}, seed_name(seed));
    EXPECT_TRUE(replay_on(1, trace, 1)[0].run.losses.all().contains("unordered_messages"));
    if (HasFailure()) return;
  }
}

TEST(ReplayOnRanks, NumbersCallPathsAlikeWhereLocationsAreScattered) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    check(RandomTrace::make(seed, {.scattered = true}), {2, 3, 7}, seed_name(seed));
    if (HasFailure()) return;
  }
}

TEST(ReplayOnRanks, FindsTheSameWhenTimesAreNonsense) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    RandomTrace trace = RandomTrace::make(seed);
    trace.make_chaotic(seed);
    check(trace, {2, 3, 7}, seed_name(seed));
    if (HasFailure()) return;
  }
}

TEST(ReplayOnRanks, DealOutTheOperationsOfACommunicator) {
  check(ManyBarriers(), {2, 3, 5, 6}, "many barriers");
}

/// Clocks are repaired with what all ranks know together.
TEST(ReplayOnRanks, FindsTheSameWhenClocksAreRepaired) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    RandomTrace trace = RandomTrace::make(seed, {.no_ties = seed % 4 > 1, .ranks = 2 + seed % 8});
    trace.make_skewed(seed, seed % 2 == 1);
    check(trace, {2, 3, 7}, seed_name(seed));
    if (HasFailure()) return;
  }
}

/// Processes wait for each other without MPI.
TEST(ReplayOnRanks, FindsTheSameOfPipes) {
  uint64_t between = 0;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const RingOfPipes trace(seed);
    check(trace, {2, 3, 6, 7}, seed_name(seed));
    if (HasFailure()) return;
    for (const Replayed& rank : replay_on(3, trace, 1)) {
      for (LocationId id : rank.run.locations) {
        for (const Wait& wait : rank.graph.waits[id.index()]) {
          between += wait.pattern == pattern("thread.pipe") &&
                     rank.run.owner(wait.cause) != rank.run.owner(id);
        }
      }
    }
  }
  EXPECT_GT(between, 100u);
}

/// Any thread's events may be missing, its master's too.
TEST(ReplayOnRanks, FindsTheSameWhenLocationsAreMissing) {
  for (uint32_t seed = 0; seed < 100; ++seed) {
    const RandomTrace trace = RandomTrace::make(seed);
    const DamagedTrace damaged(trace, [&](const trace::Location& location) {
      switch ((seed * 31 + location.process.index() * 7 + location.thread * 3) % 5) {
        case 0:
          return DamagedTrace::Damage::unreadable;
        case 1:
          return DamagedTrace::Damage::empty;
        default:
          return DamagedTrace::Damage::none;
      }
    });
    check(damaged, {2, 3, 7}, seed_name(seed));
    if (HasFailure()) return;
  }
}

/// Ranks may have processes and nothing of them. The last trace has nothing of any.
TEST(ReplayOnRanks, AgreeWhereAllOfAShareIsMissing) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const RandomTrace trace = RandomTrace::make(seed, {.ranks = 6});
    const size_t readable = seed % 6;
    const DamagedTrace damaged(trace, [&](const trace::Location& location) {
      return location.process.index() < readable ? DamagedTrace::Damage::none
                                                 : DamagedTrace::Damage::unreadable;
    });
    EXPECT_EQ(check(damaged, {2, 3, 6, 7}, seed_name(seed)), readable > 0);
    if (HasFailure()) return;
  }
}

/// Else the above would compare little: ranks must have told each other of waits of every kind.
TEST(ReplayOnRanks, ComparesWaitsBetweenRanks) {
  std::map<std::string, uint64_t> between;
  uint64_t shared_groups = 0, repairs = 0;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    RandomTrace trace = RandomTrace::make(seed);
    if (seed % 4 == 3) trace.make_skewed(seed, true);
    const std::vector<Replayed> ranks = replay_on(3, trace, 1);
    for (size_t r = 0; r < ranks.size(); ++r) {
      const auto is_foreign = [&](LocationId id) { return ranks[r].run.owner(id) != r; };
      for (LocationId id : ranks[r].run.locations) {
        for (const Wait& wait : ranks[r].graph.waits[id.index()]) {
          if (is_foreign(wait.cause)) ++between[std::string(text(wait.pattern).id)];
        }
      }
      for (const SyncGroup& group : ranks[r].graph.groups) {
        shared_groups += std::any_of(group.members.begin(), group.members.end(), is_foreign);
      }
      repairs += ranks[r].run.losses.all().contains("clock_repairs");
    }
  }
  for (const char* pattern :
       {"mpi.late_sender", "mpi.wrong_order", "mpi.late_receiver", "mpi.probe",
        "mpi.late_broadcast", "mpi.early_reduce", "mpi.early_scan", "mpi.wait_at_nxn",
        "mpi.wait_at_barrier", "mpi.wait_at_neighbors", "mpi.rma.fence", "mpi.rma.late_post",
        "mpi.rma.early_wait", "mpi.rma.late_complete", "mpi.rma.lock", "run.early_end"}) {
    EXPECT_GT(between[pattern], 20u) << pattern;
  }
  EXPECT_GT(shared_groups, 100u);
  EXPECT_GT(repairs, 20u);
}

}  // namespace
}  // namespace culprit::replay
