// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Blame for idle threads by hand: each test draws what threads do, and states who is to blame for
// what, in ticks. All are merged at once, and in many cuts with next to no room, which may change
// nothing.
#include "fold/potential/potential.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <vector>

#include "fold/potential/cut.h"
#include "tests/support/instructions.h"

namespace culprit::fold {
namespace {

using Kind = ChangeKind;

constexpr uint32_t kRows = 4;

double ticks(Wide amount) {
  return static_cast<double>(amount) / (1 << kPotentialShift);
}

/// What a process's threads do.
struct Process {
  explicit Process(uint32_t threads) : changes(threads) {}
  void add(uint32_t thread, uint64_t time, Kind kind, uint64_t about = 0) {
    changes[thread].push_back({time, kind, about});
  }
  /// A team of the first `size` threads.
  void fork(uint64_t time, uint32_t region, uint32_t size, uint32_t master = 0) {
    add(master, time, Kind::forked, team_of(region, size));
  }
  void enter(uint32_t thread, uint64_t time, uint32_t region, uint32_t size) {
    add(thread, time, Kind::team_entered, team_of(region, size));
  }
  void team(uint64_t time, uint32_t region, uint32_t size) {
    fork(time, region, size);
    for (uint32_t thread = 0; thread < size; ++thread) enter(thread, time, region, size);
  }
  void arrive(uint32_t thread, uint64_t time, uint32_t region) {
    add(thread, time, Kind::arrived, region);
  }

  struct Entry {
    uint64_t time;
    Kind kind;
    uint64_t about;
  };
  std::vector<std::vector<Entry>> changes;
};

/// What it comes to.
struct Result {
  CrewSums sums;
  std::vector<std::vector<uint64_t>> rows;
  std::vector<double> early, kept_out;
  std::vector<LockBlame> locks;

  double idle() const { return static_cast<double>(sums.idle_ticks); }
  double nobody(Nobody reason) const {
    return static_cast<double>(sums.nobody_ticks[static_cast<size_t>(reason)]);
  }
};

Result merge_in(const Process& process, uint64_t end, uint64_t step, size_t room) {
  const size_t threads = process.changes.size();
  const auto potential = std::make_unique<Potential>();
  potential->begin(0);
  Result result;
  result.rows.assign(threads, std::vector<uint64_t>(kRows));
  std::vector<std::vector<Change>> memory(threads);
  std::vector<ChangeList> lists(threads);
  std::vector<ChangeList*> all;
  for (uint32_t t = 0; t < threads; ++t) {
    memory[t].resize(process.changes[t].size() + 1);
    lists[t] = {memory[t].data(), static_cast<uint32_t>(memory[t].size()), t};
    for (const Process::Entry& entry : process.changes[t]) {
      lists[t].add(entry.time, entry.kind, entry.about);
    }
    all.push_back(&lists[t]);
    potential->set_ledger(t, {result.rows[t].data(), 1, kRows, 0});
  }
  std::vector<Change> from(room), to(room);
  std::vector<MergePart> parts(threads);
  for (uint64_t until = step; until < end; until += step) {
    cut(all, until, 0, {from, to, parts}, *potential);
  }
  cut(all, end, 0, {from, to, parts}, *potential);
  potential->finish(end);
  result.sums = potential->sums();
  for (uint32_t t = 0; t < threads; ++t) {
    result.early.push_back(ticks(potential->early_blame(t)));
    result.kept_out.push_back(static_cast<double>(potential->kept_out_ticks(t)));
  }
  for (const LockBlame& blame : potential->locks().blames()) {
    if (blame.times > 0) result.locks.push_back(blame);
  }
  return result;
}

Result merged(const Process& process, uint64_t end) {
  const Result at_once = merge_in(process, end, end, 1 << 12);
  const Result in_cuts = merge_in(process, end, 1, process.changes.size());
  EXPECT_EQ(at_once.sums.idle_ticks, in_cuts.sums.idle_ticks);
  EXPECT_EQ(at_once.sums.nobody_ticks, in_cuts.sums.nobody_ticks);
  EXPECT_EQ(at_once.rows, in_cuts.rows);
  EXPECT_TRUE(at_once.sums.gap() == 0 && in_cuts.sums.gap() == 0);
  return at_once;
}

TEST(Potential, WhoArrivesLastIsToBlameForThoseBefore) {
  Process p(3);
  p.team(0, 1, 3);
  p.arrive(0, 10, 1);
  p.arrive(1, 30, 1);
  p.add(2, 90, Kind::stretch_ended, 2);
  p.arrive(2, 90, 1);
  p.add(0, 95, Kind::joined, 1);
  const Result r = merged(p, 95);
  EXPECT_EQ(r.idle(), 80 + 60);
  // From 10 to 30 two worked while one was idle, then one while two were.
  EXPECT_EQ(r.rows[1][0], 10u);
  EXPECT_EQ(r.rows[2][2], 10u + 120u);
}

TEST(Potential, TheRuntimeWorksUntilTheThreadThatForkedLeaves) {
  Process p(2);
  p.team(0, 1, 2);
  p.arrive(0, 10, 1);
  p.arrive(1, 10, 1);
  p.add(0, 15, Kind::departed, 1);
  p.add(0, 15, Kind::joined, 1);
  // The worker says so only when it begins anew.
  p.fork(40, 2, 2);
  p.enter(0, 41, 2, 2);
  p.add(1, 60, Kind::departed, 1);
  p.add(1, 60, Kind::team_left, 1);
  p.enter(1, 60, 2, 2);
  const Result r = merged(p, 70);
  EXPECT_EQ(r.idle(), 25);  // from 15 to 40: until 60 it is about to come
  EXPECT_EQ(r.rows[0][0], 25u);
}

TEST(Potential, ThreadsThatComeLaterHaveBeenIdleFromTheBeginning) {
  Process p(3);
  p.add(0, 20, Kind::mpi_entered);
  p.add(0, 50, Kind::mpi_left);
  p.team(100, 1, 3);
  const Result r = merged(p, 110);
  EXPECT_EQ(r.idle(), 200);
  EXPECT_EQ(r.early[0], 140);
  EXPECT_EQ(r.nobody(Nobody::early), 60);
}

TEST(Potential, ThreadsThatAreLateToComeCountUntilTheyWereCalled) {
  Process p(3);
  p.fork(100, 1, 3);
  p.enter(0, 100, 1, 3);
  p.enter(1, 110, 1, 3);
  p.arrive(0, 130, 1);
  p.enter(2, 150, 1, 3);
  const Result r = merged(p, 160);
  EXPECT_EQ(r.early, (std::vector<double>{200, 0, 0}));
  EXPECT_EQ(r.idle(), 200 + 30);
}

TEST(Potential, AThreadMadeForOneTeamHasNotBeenThereBefore) {
  Process p(3);
  p.team(0, 1, 2);
  p.fork(50, 2, 2, 1);
  p.enter(1, 50, 2, 2);
  p.add(2, 52, Kind::begun, 1);
  p.enter(2, 55, 2, 2);
  p.arrive(2, 60, 2);
  p.arrive(1, 80, 2);
  p.add(1, 80, Kind::joined, 2);
  p.add(2, 81, Kind::ended);
  const Result r = merged(p, 100);
  EXPECT_EQ(r.idle(), 20);
  EXPECT_EQ(r.rows[0][0] + r.rows[1][0], 20u);
}

TEST(Potential, NobodyIsToBlameWhileAllOthersAreInMpi) {
  Process p(2);
  p.team(0, 1, 2);
  p.arrive(1, 10, 1);
  p.add(0, 20, Kind::stretch_ended, 1);
  p.add(0, 20, Kind::mpi_entered);
  p.add(0, 70, Kind::mpi_left);
  p.add(0, 75, Kind::stretch_ended, 3);
  p.arrive(0, 75, 1);
  const Result r = merged(p, 80);
  EXPECT_EQ(r.idle(), 65);
  EXPECT_EQ(r.rows[0][1], 10u);
  EXPECT_EQ(r.rows[0][3], 5u);
  EXPECT_EQ(r.nobody(Nobody::mpi), 50);
}

TEST(Potential, AnArrivalThatIsTakenBackIsNone) {
  Process p(2);
  p.team(0, 1, 2);
  p.arrive(0, 10, 1);
  p.add(0, 10, Kind::taken_back, 1);
  p.arrive(1, 20, 1);
  p.arrive(0, 50, 1);
  EXPECT_EQ(merged(p, 60).idle(), 30);
}

TEST(Potential, TasksKeepABarrierClosed) {
  Process p(3);
  p.team(0, 1, 3);
  p.add(0, 10, Kind::task_created, 7);
  p.arrive(1, 20, 1);
  p.add(1, 20, Kind::task_entered, 7);
  p.arrive(0, 30, 1);
  p.arrive(2, 40, 1);
  p.add(1, 90, Kind::stretch_ended, 2);
  p.add(1, 90, Kind::task_ended, 7);
  const Result r = merged(p, 100);
  EXPECT_EQ(r.idle(), 60 + 50);
  EXPECT_EQ(r.rows[1][2], 5u + 100u);
  EXPECT_EQ(r.rows[2][0], 5u);
}

TEST(Potential, AThreadIsNotIdleWhileATaskIsReadyForIt) {
  Process p(2);
  p.team(0, 1, 2);
  p.arrive(1, 10, 1);
  p.add(0, 30, Kind::task_created, 7);
  p.add(1, 50, Kind::task_entered, 7);
  p.add(1, 60, Kind::task_ended, 7);
  p.arrive(0, 80, 1);
  const Result r = merged(p, 90);
  EXPECT_EQ(r.idle(), 20 + 20);
  EXPECT_EQ(r.rows[0][0], 40u);
}

TEST(Potential, ATaskThatDependsOnOthersIsNotReady) {
  Process p(2);
  p.team(0, 1, 2);
  p.arrive(1, 10, 1);
  p.add(0, 30, Kind::task_created, 7);
  p.add(0, 30, Kind::task_ordered, 7);
  p.add(1, 50, Kind::task_entered, 7);
  p.add(1, 60, Kind::task_ended, 7);
  p.arrive(0, 80, 1);
  EXPECT_EQ(merged(p, 90).idle(), 40 + 20);
}

TEST(Potential, ATaskwaitLastsUntilTheLastChildIsComplete) {
  Process p(2);
  p.team(0, 1, 2);
  p.add(0, 10, Kind::task_created, 7);
  p.add(1, 10, Kind::task_entered, 7);
  p.add(1, 11, Kind::task_created, 8);  // no child of the one that waits
  p.add(0, 20, Kind::wait_begun, 0);
  p.add(1, 60, Kind::task_ended, 7);
  p.add(0, 75, Kind::wait_ended);
  const Result r = merged(p, 100);
  EXPECT_EQ(r.idle(), 40 - 40);  // task 8 is ready for it
  Process group = p;
  group.changes[0].insert(group.changes[0].begin() + 2, {5, Kind::group_begun, 0});
  for (auto& entry : group.changes[0]) {
    if (entry.kind == Kind::wait_begun) entry.about = 1;
  }
  group.add(1, 62, Kind::task_entered, 8);
  group.add(1, 70, Kind::stretch_ended, 3);
  group.add(1, 70, Kind::task_ended, 8);
  const Result g = merged(group, 100);
  EXPECT_EQ(g.idle(), 8);
  EXPECT_EQ(g.rows[1][3], 8u);
}

TEST(Potential, HoldersPayForThoseWhoWaitForALock) {
  Process p(3);
  p.team(0, 1, 3);
  p.add(0, 10, Kind::lock_acquired, 77);
  p.add(1, 20, Kind::lock_wanted, 77);
  p.add(2, 30, Kind::lock_wanted, 77);
  p.add(0, 50, Kind::lock_released, 77);
  p.add(1, 55, Kind::lock_acquired, 77);
  p.add(1, 65, Kind::lock_released, 77);
  p.add(2, 65, Kind::lock_acquired, 77);
  p.add(2, 70, Kind::lock_released, 77);
  const Result r = merged(p, 80);
  EXPECT_EQ(r.kept_out, (std::vector<double>{0, 30, 20 + 10}));
  ASSERT_EQ(r.locks.size(), 2u);
  for (const LockBlame& blame : r.locks) EXPECT_EQ(blame.ticks, blame.holder == 0 ? 50u : 10u);
}

TEST(Potential, OthersWaitForTheThreadWhoseTurnItIs) {
  Process p(3);
  p.team(0, 1, 3);
  p.add(0, 10, Kind::turn_wanted, 77);
  p.add(0, 10, Kind::lock_acquired, 77);
  p.add(2, 20, Kind::turn_wanted, 77);
  p.add(0, 30, Kind::lock_released, 77);
  p.add(1, 60, Kind::turn_wanted, 77);  // late
  p.add(1, 60, Kind::lock_acquired, 77);
  p.add(1, 70, Kind::lock_released, 77);
  p.add(2, 72, Kind::lock_acquired, 77);
  const Result r = merge_in(p, 80, 80, 1 << 12);
  EXPECT_EQ(r.kept_out, (std::vector<double>{0, 0, 50}));
  for (const LockBlame& blame : r.locks) EXPECT_EQ(blame.ticks, blame.holder == 0 ? 10u : 40u);
}

TEST(Potential, ALockThatATestDidNotGetIsNotWaitedFor) {
  Process p(2);
  p.team(0, 1, 2);
  p.add(0, 10, Kind::lock_acquired, 77);
  p.add(1, 20, Kind::lock_wanted, 77);
  p.arrive(1, 30, 1);
  p.add(0, 50, Kind::lock_released, 77);
  EXPECT_EQ(merged(p, 60).kept_out[1], 10);
}

TEST(Potential, NothingCountsWhileRecordingIsOff) {
  Process p(2);
  p.team(0, 1, 2);
  p.arrive(1, 10, 1);
  p.add(0, 20, Kind::recording_off);
  p.add(0, 50, Kind::recording_on);
  p.arrive(0, 60, 1);
  EXPECT_EQ(merged(p, 70).idle(), 20);
}

TEST(Potential, ASampleWeighsByHowManyWereIdleForEachThatWorked) {
  Process p(4);
  p.team(0, 1, 4);
  p.add(0, 5, Kind::sampled, 1);
  for (uint32_t thread = 1; thread < 4; ++thread) p.arrive(thread, 10 * thread, 1);
  p.add(0, 25, Kind::sampled, 2);
  p.add(0, 35, Kind::sampled, 3);
  const Result r = merged(p, 40);
  EXPECT_EQ(r.rows[0][1], 0u);
  EXPECT_EQ(r.rows[0][2], 1024u);
  EXPECT_EQ(r.rows[0][3], 3 * 1024u);
}

TEST(Potential, CrewsOfDifferentThreadsDoNotPayForEachOther) {
  Process p(4);
  p.team(0, 1, 2);
  p.fork(0, 2, 2, 2);
  p.enter(2, 0, 2, 2);
  p.enter(3, 0, 2, 2);
  p.arrive(1, 10, 1);
  const Result r = merged(p, 30);
  EXPECT_EQ(r.idle(), 20);
  EXPECT_EQ(r.rows[0][0], 20u);
  EXPECT_EQ(r.rows[2][0] + r.rows[3][0], 0u);
}

/// A cut does not pass a fork whose team's size is not known, but does not wait for it for ever.
TEST(Cut, WaitsForTheSizeOfATeam) {
  std::vector<Change> memory(8), from(8), to(8);
  std::vector<MergePart> parts(1);
  ChangeList list(memory.data(), 8, 0);
  ChangeList* const lists[] = {&list};
  const auto potential = std::make_unique<Potential>();
  const MergeRoom room{from, to, parts};
  list.add(10, Kind::begun);
  list.add_fork(20, 1);
  list.add(22, Kind::sampled);
  EXPECT_EQ(cut(lists, 30, 100, room, *potential), 19u);
  EXPECT_EQ(list.count(), 2u);
  list.set_size(1, 4);
  EXPECT_EQ(cut(lists, 30, 100, room, *potential), 30u);
  EXPECT_EQ(list.count(), 0u);
  list.add_fork(40, 2);
  EXPECT_EQ(cut(lists, 200, 100, room, *potential), 200u);
}

TEST(Cut, AFullListCountsWhatItLoses) {
  std::vector<Change> memory(2);
  ChangeList list(memory.data(), 2, 0);
  for (uint64_t time = 1; time <= 5; ++time) list.add(time, Kind::mpi_entered);
  EXPECT_EQ(list.count(), 2u);
  EXPECT_EQ(list.lost(), 3u);
}

/// The room of changes that were taken is used again, in whatever pieces they are.
TEST(Cut, AListIsTakenInPieces) {
  std::vector<Change> memory(4);
  ChangeList list(memory.data(), 4, 0);
  for (uint64_t time = 1; time <= 3; ++time) list.add(time, Kind::mpi_entered);
  list.take(2);
  EXPECT_EQ(list.count(), 1u);
  list.add(4, Kind::mpi_entered);
  list.add(5, Kind::mpi_entered);
  list.add_fork(6, 1);
  ASSERT_EQ(list.count(), 4u);
  EXPECT_EQ(list.lost(), 0u);
  for (uint64_t i = 0; i < 4; ++i) EXPECT_EQ(list.begin()[i].time, 3 + i);
  list.take(2);
  EXPECT_EQ(list.open_fork(), 6u);
  list.add(7, Kind::mpi_entered);
  EXPECT_EQ(list.open_fork(), 6u);
  list.set_size(1, 4);
  EXPECT_EQ(list.open_fork(), UINT64_MAX);
  list.take(3);
  EXPECT_EQ(list.count(), 0u);
}

/// Tasks that are nested far more deeply than there are levels to know them by.
TEST(Potential, CostsAsMuchForEachTaskHoweverDeepItIs) {
  const auto potential = std::make_unique<Potential>();
  potential->begin(0);
  const auto enter = [&](uint64_t first, uint64_t count) {
    std::vector<Change> changes;
    for (uint64_t task = first; task < first + count; ++task) {
      changes.push_back(Change::of(task, Kind::task_entered, 0, task));
    }
    return testing_support::instructions_of([&] { potential->apply(changes); }, 400'000);
  };
  constexpr uint64_t kFew = 100, kDeep = 50'000;
  const auto once = enter(1, kFew);
  ASSERT_TRUE(once);
  std::vector<Change> nested;
  for (uint64_t task = 1; task <= kDeep; ++task) {
    nested.push_back(Change::of(task, Kind::task_entered, 0, task));
  }
  potential->apply(nested);
  const auto deep = enter(kDeep + 1, kFew);
  ASSERT_TRUE(deep);
  EXPECT_LT(*deep, 4 * *once);
}

/// Whatever is listed, the sums close, and nothing is written outside of the rows.
TEST(Potential, ClosesWhateverItIsTold) {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    std::mt19937_64 draw(seed);
    Process p(5);
    uint64_t end = 0;
    for (uint32_t thread = 0; thread < 5; ++thread) {
      uint64_t time = 0;
      for (int i = 0; i < 2000; ++i) {
        time += draw() % 30;
        const auto kind =
            static_cast<Kind>(draw() % (static_cast<unsigned>(Kind::recording_on) + 1));
        const bool of_team = kind == Kind::forked || kind == Kind::team_entered;
        const uint64_t number = draw() % 6;
        p.add(thread, time, kind,
              of_team ? team_of(static_cast<uint32_t>(number), draw() % 6) : number);
      }
      end = std::max(end, time);
    }
    const Result r = merge_in(p, end, 1000, 64);
    EXPECT_TRUE(r.sums.gap() == 0) << seed;
  }
}

}  // namespace
}  // namespace culprit::fold
