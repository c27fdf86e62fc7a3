// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Properties that hold for every trace, whatever it says: the identities of the analysis, and that
// results depend neither on the number of threads nor on when clocks begin nor on names.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "blame/analyze.h"
#include "tests/unit/blame/random_trace.h"

namespace culprit {
namespace {

using blame::Findings;
using testing_support::RandomTrace;

Findings analyzed(const RandomTrace& trace, unsigned threads) {
  auto found = blame::analyze(trace, {.threads = threads, .verify = true}, {});
  EXPECT_TRUE(found.ok());
  return std::move(found).value();
}

/// Activities tile each location's life, and waits are a part of it (identity 5).
void expect_lives(const Findings& found, uint32_t seed) {
  std::vector<double> time(found.locations.size()), waiting(found.locations.size());
  for (const auto& row : found.profile) time[row.location.index()] += row.time_s;
  for (const auto& row : found.waits) waiting[row.location.index()] += row.time_s;
  for (size_t l = 0; l < found.locations.size(); ++l) {
    const double life = found.locations[l].life_s;
    EXPECT_NEAR(time[l], life, 1e-12 + 1e-9 * life) << "seed " << seed << " location " << l;
    EXPECT_NEAR(waiting[l], found.locations[l].waiting_s, 1e-12 + 1e-9 * life) << "seed " << seed;
    EXPECT_LE(waiting[l], life + 1e-12) << "seed " << seed << " location " << l;
  }
}

/// Idle threads' time is somebody's, or nobody's (identity 4).
void expect_blame(const Findings& found, uint32_t seed) {
  double idle = 0, blamed = 0;
  for (const auto& row : found.waits) {
    // Who waits for a lock is not idle: it has something to do.
    const bool lock = row.pattern == "omp.lock" || row.pattern == "omp.critical" ||
                      row.pattern == "omp.ordered" || row.pattern == "omp.atomic";
    if (row.pattern.starts_with("omp.") && !lock) idle += row.time_s;
  }
  for (const auto& row : found.idle_blame) blamed += row.time_s;
  for (const auto& row : found.idle_nobody) blamed += row.time_s;
  EXPECT_NEAR(idle, blamed, 1e-15 + 1e-9 * idle) << "seed " << seed;
}

/// The identities 1 to 3, recomputed from the rows and not from what analyze() says of itself.
void expect_identities(const Findings& found, uint32_t seed) {
  double waiting = 0, costs = 0, path = 0, imbalance = 0;
  for (const auto& row : found.waits) {
    waiting += row.time_s;
    const double slack = 1e-15 + 1e-12 * row.time_s;
    EXPECT_GT(row.time_s, 0) << "seed " << seed;
    EXPECT_GE(row.indirect_s, -slack) << "seed " << seed;
    EXPECT_LE(row.indirect_s, row.time_s + slack) << "seed " << seed;
    EXPECT_GE(row.propagating_s, -slack) << "seed " << seed;
    EXPECT_LE(row.propagating_s, row.time_s + slack) << "seed " << seed;
  }
  for (const auto& row : found.delays) costs += row.short_s + row.long_s;
  double polled = 0;
  for (const auto& row : found.unattributed) {
    (row.pattern == "mpi.polling" ? polled : costs) += row.time_s;
  }
  for (const auto& row : found.polling_causes) polled += row.time_s;
  double polling = 0;
  for (const auto& row : found.polling) polling += row.time_s;
  EXPECT_LE(polled, polling + 1e-15 + 1e-9 * polling) << "seed " << seed;
  for (const auto& row : found.critical_callpaths) {
    path += row.time_s;
    imbalance += row.intra_s + row.inter_s;
  }
  const double slack = 1e-15 + 1e-9 * waiting;
  EXPECT_NEAR(waiting, costs, slack) << "seed " << seed;
  EXPECT_NEAR(path, found.run.wall_s, 1e-15 + 1e-9 * path) << "seed " << seed;
  EXPECT_NEAR(imbalance + found.identities.imbalance_unattributed_s, waiting, slack)
      << "seed " << seed;
  for (size_t i = 1; i < found.segments.size(); ++i) {
    EXPECT_EQ(found.segments[i - 1].end_s, found.segments[i].begin_s) << "seed " << seed;
  }
  for (const std::string& sentence : found.identities.violations) {
    ADD_FAILURE() << "seed " << seed << ": " << sentence;
  }
  expect_blame(found, seed);
  expect_lives(found, seed);
}

/// All that was found, by names: location 2.1 is called by what its rank would be without renaming.
using Rows = std::map<std::string, double>;

Rows rows_of(const Findings& found, const std::vector<uint32_t>& original_ranks) {
  Rows rows;
  const auto path = [&](CallPathId id) {
    return id.valid() ? found.callpaths[id.index()].name : std::string("-");
  };
  const auto location = [&](LocationId id) {
    if (!id.valid()) return std::string("-");
    const auto& l = found.locations[id.index()];
    return std::to_string(original_ranks[l.rank]) + "." + std::to_string(l.thread);
  };
  const auto word = [](auto value) { return std::string(to_string(value)); };
  const auto add = [&](std::initializer_list<std::string> key, double value) {
    std::string name;
    for (const std::string& part : key) name += (name.empty() ? "" : "|") + part;
    rows[name] += value;
  };
  for (const auto& row : found.waits) {
    add({"wait", row.pattern, path(row.callpath), location(row.location)}, row.time_s);
    add({"count", row.pattern, path(row.callpath), location(row.location)}, double(row.count));
    add({"indirect", row.pattern, path(row.callpath), location(row.location)}, row.indirect_s);
    add({"propagating", row.pattern, path(row.callpath), location(row.location)},
        row.propagating_s);
  }
  for (const auto& row : found.delays) {
    add({"short", row.pattern, path(row.callpath), location(row.location)}, row.short_s);
    add({"long", row.pattern, path(row.callpath), location(row.location)}, row.long_s);
  }
  for (const auto& row : found.unattributed) {
    add({"unattributed", row.pattern, word(row.reason)}, row.time_s);
  }
  for (const auto& row : found.polling_causes) {
    add({"polling", path(row.callpath), location(row.location)}, row.time_s);
  }
  for (const auto& row : found.critical_callpaths) {
    add({"path", path(row.callpath)}, row.time_s);
    add({"imbalance", path(row.callpath)}, row.imbalance_s);
    add({"activity", path(row.callpath)}, row.activity_s);
    add({"intra", path(row.callpath)}, row.intra_s);
    add({"inter", path(row.callpath)}, row.inter_s);
  }
  for (const auto& row : found.critical_path) {
    add({"path", path(row.callpath), location(row.location)}, row.time_s);
  }
  for (const auto& row : found.profile) {
    add({"profile", path(row.callpath), location(row.location)}, row.time_s);
    add({"visits", path(row.callpath), location(row.location)}, double(row.visits));
  }
  for (const auto& row : found.segments) {
    add({"segment", std::to_string(row.begin_s), path(row.callpath), location(row.location)},
        row.end_s - row.begin_s);
  }
  for (const auto& row : found.idle_blame) {
    add({"blame", path(row.callpath), location(row.location)}, row.time_s);
  }
  for (const auto& row : found.idle_nobody) {
    add({"nobody", word(row.reason), location(row.location)}, row.time_s);
  }
  for (const auto& row : found.efficiencies) add({"efficiency", word(row.name)}, row.value);
  for (const auto& row : found.instances) {
    add({"instance", row.pattern, std::to_string(row.begin_s), path(row.callpath),
         location(row.location), path(row.cause_callpath), location(row.cause_location)},
        row.time_s);
  }
  for (const auto& row : found.distributions) {
    add({"distribution", path(row.callpath), word(row.shape), word(row.course)}, row.same_place);
  }
  for (const auto& [name, loss] : found.losses.all()) {
    add({"loss", name}, static_cast<double>(loss.count));
  }
  return rows;
}

/// `slack`: of sums in another order.
void expect_same(const Rows& a, const Rows& b, double slack, const std::string& where) {
  for (const auto& [name, value] : a) {
    const auto other = b.find(name);
    if (other == b.end()) {
      EXPECT_NEAR(value, 0, slack) << where << ": " << name << " is missing";
    } else {
      EXPECT_NEAR(value, other->second, slack * (1 + std::abs(value))) << where << ": " << name;
    }
  }
  for (const auto& [name, value] : b) {
    if (a.contains(name)) continue;
    EXPECT_NEAR(value, 0, slack) << where << ": " << name << " is new";
  }
}

std::string seed_name(uint32_t seed) {
  return "seed " + std::to_string(seed);
}

TEST(RandomTraces, KeepTheIdentities) {
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    expect_identities(analyzed(RandomTrace::make(seed), 1), seed);
    if (HasFailure()) return;
  }
}

TEST(RandomTraces, KeepTheIdentitiesWithoutTies) {
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    expect_identities(analyzed(RandomTrace::make(seed, {.no_ties = true}), 1), seed);
    if (HasFailure()) return;
  }
}

TEST(RandomTraces, KeepTheIdentitiesWhenTimesAreNonsense) {
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    RandomTrace trace = RandomTrace::make(seed);
    trace.make_chaotic(seed);
    expect_identities(analyzed(trace, 1), seed);
    if (HasFailure()) return;
  }
}

/// Clocks of nodes or of processes that are wrong are put right: nothing else is missing, but for
/// kernels whose times do not let them be of one operation.
TEST(RandomTraces, KeepTheIdentitiesWhenClocksAreRepaired) {
  uint64_t repairs = 0;
  for (uint32_t seed = 0; seed < 3000; ++seed) {
    RandomTrace trace = RandomTrace::make(seed, {.no_ties = seed % 4 > 1, .no_windows = true});
    trace.make_skewed(seed, seed % 2 == 1);
    const Findings found = analyzed(trace, 1);
    expect_identities(found, seed);
    for (const auto& [name, loss] : found.losses.all()) {
      if (name == "device_communication_not_matched") continue;
      EXPECT_EQ(name, "clock_repairs") << "seed " << seed << ": " << loss.count;
      repairs += loss.count;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(repairs, 10000u);
}

/// Nothing is lost of a trace that could have been: all messages, collectives and teams are found.
TEST(RandomTraces, AreUnderstood) {
  for (uint32_t seed = 0; seed < 1000; ++seed) {
    const Findings found = analyzed(RandomTrace::make(seed), 1);
    for (const auto& [name, loss] : found.losses.all()) {
      ADD_FAILURE() << "seed " << seed << ": " << name << " " << loss.count;
    }
    if (HasFailure()) return;
  }
}

/// Else the properties would hold of little.
TEST(RandomTraces, WaitInEveryWay) {
  Rows patterns;
  for (uint32_t seed = 0; seed < 600; ++seed) {
    for (const auto& row : analyzed(RandomTrace::make(seed), 1).waits) {
      patterns[row.pattern] += static_cast<double>(row.count);
    }
  }
  for (const char* pattern :
       {"mpi.late_sender", "mpi.late_receiver", "mpi.late_broadcast",  "mpi.early_reduce",
        "mpi.early_scan",  "mpi.wait_at_nxn",   "mpi.wait_at_barrier", "mpi.wait_at_neighbors",
        "omp.barrier",     "omp.idle_threads",  "omp.critical",        "run.early_end",
        "mpi.rma.fence",   "mpi.rma.lock",      "dev.host_wait",       "dev.blocking_copy",
        "dev.late_launch", "dev.no_more_work",  "dev.stream_wait",     "dev.communication"}) {
    EXPECT_GT(patterns[pattern], 50) << pattern;
  }
}

TEST(RandomTraces, DoNotDependOnThreads) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    RandomTrace trace = RandomTrace::make(seed);
    if (seed % 3 == 1) trace.make_chaotic(seed);
    if (seed % 3 == 2) trace.make_skewed(seed, true);
    const Rows one = rows_of(analyzed(trace, 1), trace.original_ranks());
    for (unsigned threads : {2u, 5u}) {
      const Rows many = rows_of(analyzed(trace, threads), trace.original_ranks());
      expect_same(one, many, 0, seed_name(seed));  // to the last bit
    }
    if (HasFailure()) return;
  }
}

TEST(RandomTraces, DoNotDependOnWhenClocksBegin) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    RandomTrace trace = RandomTrace::make(seed);
    if (seed % 3 == 1) trace.make_chaotic(seed);
    if (seed % 3 == 2) trace.make_skewed(seed, true);
    const Rows before = rows_of(analyzed(trace, 1), trace.original_ranks());
    trace.shift(Duration::from_nanos(-987'654'321'987'654'321));
    const Rows after = rows_of(analyzed(trace, 1), trace.original_ranks());
    expect_same(before, after, 0, seed_name(seed));
    if (HasFailure()) return;
  }
}

/// Other ranks, other numbers of the same processes. (Where things happen at the same time, numbers
/// decide which is said to be the cause, so nothing does here.)
TEST(RandomTraces, DoNotDependOnNames) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    const RandomTrace trace = RandomTrace::make(seed, {.no_ties = true});
    const RandomTrace other = RandomTrace::make(seed, {.no_ties = true, .renamed = true});
    const Rows before = rows_of(analyzed(trace, 1), trace.original_ranks());
    const Rows after = rows_of(analyzed(other, 1), other.original_ranks());
    expect_same(before, after, 1e-11, seed_name(seed));
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace culprit
