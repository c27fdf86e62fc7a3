// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Records that several analysis ranks open together are the trace that one rank opens.

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "assemble/play_run.h"
#include "fixture.h"
#include "tests/support/rank_threads.h"

namespace culprit::assemble::test {
namespace {

using trace::RawCommOrigin;
using trace::RawKind;

/// What is to be the same, however many ranks there are.
struct Opened {
  std::string events;
  std::multiset<std::string> regions;
  std::vector<std::string> locations;
  std::vector<std::string> comms;
  std::vector<std::string> lines;
  std::set<std::string> notes;
  std::map<std::string, uint64_t> losses;
  uint64_t records = 0, processes = 0, stuck = 0;
  bool operator==(const Opened&) const = default;
};

class RanksTest : public AssembleTest {
 protected:
  std::unique_ptr<RawProcessBuilder> rank(int32_t number, int32_t size) {
    auto p = process("node1." + std::to_string(number + 1) + ".a");
    p->rank(number, size).ended(1'000'000'000);
    p->process.sampling_hz = 1000;
    return p;
  }

  /// Steps of which most have no sample: how they are divided depends on all ranks.
  void steps(RawThread& log, const std::string& own, int count) {
    for (int i = 0; i < count; ++i) {
      const auto begin = static_cast<uint64_t>(i) * 20'000'000 + 1'000'000;
      const std::string& where = i % 5 == 0 ? own : std::string("common");
      if (i % 3 == 0) log.sample(begin + 5'000'000, in_main({"step", where}));
      log.enter(begin + 10'000'000, "MPI_Barrier", in_main({"step"}))
          .put(RawKind::mpi_collective, begin + 11'000'000, 0, 0, {~uint64_t{0}, 0, 0})
          .leave(begin + 12'000'000, "MPI_Barrier");
    }
  }

  /// Every second rank, in a communicator of their own.
  static void split(RawThread& log, uint32_t number, uint32_t first) {
    log.put(RawKind::mpi_comm_def, 5, static_cast<uint16_t>(RawCommOrigin::collective), number,
            {0 | uint64_t{2} << 32, first | uint64_t{first + 2} << 32});
    log.enter(500'000, "MPI_Barrier", in_main({"step"}))
        .put(RawKind::mpi_collective, 600'000, 0, number, {~uint64_t{0}, 0, 0})
        .leave(700'000, "MPI_Barrier");
  }

  void four_ranks() {
    for (int32_t i = 0; i < 4; ++i) {
      auto p = rank(i, 4);
      RawThread& log = p->thread(0);
      split(log, 1, static_cast<uint32_t>(i % 2));
      steps(log, i == 2 ? "only_two" : "often", 30);
      for (uint32_t thread = 1; i % 2 == 1 && thread < 3; ++thread) {
        p->thread(thread).begin_user(1000, trace::RawUserRegion::region, "of " + std::to_string(i),
                                     in_main({"worker"}));
      }
    }
  }

  Opened open(const RecordedRun& run, const std::string& events) const {
    Opened opened;
    opened.events = events;
    for (const trace::Region& region : run.definitions.regions) {
      opened.regions.insert(region.name + " " + region.file + ":" + std::to_string(region.line));
    }
    for (const trace::Location& location : run.definitions.locations) {
      opened.locations.push_back(location.name + " has about " +
                                 std::to_string(location.event_count));
    }
    for (const trace::Comm& comm : run.definitions.comms) {
      std::string& members = opened.comms.emplace_back();
      for (const ProcessId member : comm.members) members += std::to_string(member.index()) + " ";
    }
    for (const CostlyLine& line : run.facts.lines) {
      opened.lines.push_back(line.function + std::to_string(line.samples));
    }
    opened.notes.insert(run.facts.notes.begin(), run.facts.notes.end());
    for (const auto& [name, loss] : run.facts.losses.all()) opened.losses[name] = loss.count;
    opened.records = run.facts.records;
    opened.processes = run.facts.processes;
    opened.stuck = run.facts.stuck.size();
    return opened;
  }

  /// The first rank's facts; each rank plays its own locations.
  Opened opened_by(size_t ranks) {
    testing_support::RankThreads threads(ranks);
    std::mutex mutex;
    std::vector<std::string> events(1000);
    std::unique_ptr<RecordedRun> first;
    threads.run([&](Transport& all) {
      PassOptions options{1, code.symbols()};
      options.ranks = &all;
      auto run = prepare_run(GuardedPath(folder_) / "raw", options);
      ASSERT_TRUE(run.ok()) << run.error().sentence;
      Listing own(run.value()->definitions);
      for (size_t i = 0; i < own.definitions.locations.size(); ++i) {
        const trace::Location& location = own.definitions.locations[i];
        const auto next = std::upper_bound(run.value()->shares.begin(), run.value()->shares.end(),
                                           location.process);
        if (next - run.value()->shares.begin() != static_cast<ptrdiff_t>(all.rank())) continue;
        const auto sink = own.open(LocationId(i));
        Losses losses;
        play_location(*run.value(), LocationId(i), *sink, losses);
        const std::lock_guard lock(mutex);
        events[i] = own.text(std::to_string(location.process.index()) + "." +
                             std::to_string(location.thread));
      }
      if (all.rank() == 0) first = std::move(run).value();
    });
    std::string text;
    for (const std::string& one : events) text += one;
    return open(*first, text);
  }

  void expect_the_same() {
    const Opened alone = opened_by(1);
    EXPECT_NE(alone.events, "");
    for (const size_t ranks : {2, 3, 4, 7}) {
      const Opened several = opened_by(ranks);
      EXPECT_EQ(several.events, alone.events) << ranks;
      EXPECT_EQ(several.regions, alone.regions) << ranks;
      EXPECT_EQ(several.locations, alone.locations) << ranks;
      EXPECT_EQ(several.comms, alone.comms) << ranks;
      EXPECT_EQ(several.lines, alone.lines) << ranks;
      EXPECT_EQ(several.notes, alone.notes) << ranks;
      EXPECT_EQ(several.losses, alone.losses) << ranks;
      EXPECT_TRUE(several == alone) << ranks;
    }
  }
};

TEST_F(RanksTest, OpenTheTraceThatOneOpens) {
  four_ranks();
  expect_the_same();
  const std::string& events = opened_by(1).events;
  EXPECT_NE(events.find("only_two"), std::string::npos) << events;
}

TEST_F(RanksTest, KnowProcessesThatLeftNothing) {
  rank(0, 4)->thread(0).enter(10, "MPI_Barrier", in_main({}));
  steps(rank(3, 4)->thread(0), "often", 8);
  expect_the_same();
}

TEST_F(RanksTest, CountWhatAnyHasLost) {
  for (int32_t i = 0; i < 3; ++i) {
    auto p = rank(i, 3);
    p->process.dropped_records = 5;
    steps(p->thread(0), "often", 4);
    p->thread(0).put(static_cast<RawKind>(250), 900'000'000);
  }
  std::filesystem::create_directories(folder_ / "raw" / "node1.9.a");
  expect_the_same();
  EXPECT_EQ(opened_by(3).losses.at("dropped_records"), 15u);
  EXPECT_EQ(opened_by(3).losses.at("unreadable_processes"), 1u);
}

TEST_F(RanksTest, FindWhoIsStuck) {
  for (int32_t i = 0; i < 3; ++i) {
    auto p = rank(i, 3);
    p->process.finalized = p->process.ended = 0;
    p->process.end_ticks = 0;
    RawThread& log = p->thread(0);
    log.enter(1000, "MPI_Recv", in_main({"ask"}));
    log.put(RawKind::mpi_awaits, 1000, static_cast<uint16_t>(trace::RawAwaits::message), 0,
            {static_cast<uint64_t>((i + 1) % 3)});
  }
  expect_the_same();
  EXPECT_GE(opened_by(2).stuck, 1u);
}

TEST_F(RanksTest, SayTogetherThatThereIsNothing) {
  testing_support::RankThreads threads(3);
  threads.run([&](Transport& all) {
    PassOptions options{1, code.symbols()};
    options.ranks = &all;
    EXPECT_FALSE(prepare_run(GuardedPath(folder_) / "raw", options).ok());
  });
}

}  // namespace
}  // namespace culprit::assemble::test
