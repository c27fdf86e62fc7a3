// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the OpenMP probe records of real programs, built by each compiler found, and that the
// programs compute what they compute without it. What a run must contain follows from its source;
// which thread runs a task, or whether a worker's last end arrives before the process is over, does
// not.
#include <gtest/gtest.h>

#include <set>

#include "child.h"

namespace culprit::tests {
namespace {

using trace::RawKind;

constexpr size_t kRegions = 5;
constexpr size_t kThreads = 3;
constexpr size_t kTasks = 4;

/// As RawProcess::gomp_redirected.
enum Way : uint32_t { kAsItIs = 0, kOnLibomp = 1, kRefused = 2, kOnLibgomp = 3 };

struct Built {
  const char* program;
  Way way;
  const char* answer;
};

std::map<std::string, std::string> openmp_environment(Way way = kOnLibomp) {
  return {{"CULPRIT_OPENMP_RUNTIME", way == kOnLibgomp ? "libgomp" : CULPRIT_LIBOMP},
          {"OMP_WAIT_POLICY", "passive"}};
}

RawRun run_built(const Built& built) {
  Experiment experiment;
  std::string output;
  EXPECT_EQ(experiment.run_program({built.program}, openmp_environment(built.way), &output), 0);
  EXPECT_EQ(output, built.answer);
  return experiment.read_one();
}

/// Opens and closes one kind of thing on one thread; workers' last ends may be overdue at the end.
void expect_pairs(const RawThread& thread, RawKind begin, RawKind end, int may_lack) {
  int open = 0;
  for (const RawRecord& record : thread.records) {
    if (record.kind() == begin) ++open;
    if (record.kind() == end) --open;
    ASSERT_GE(open, 0) << to_string(end) << " before its begin";
  }
  EXPECT_LE(open, may_lack) << to_string(begin);
}

/// The same of implicit tasks; where one that forked a region has no end of its own, it ends with
/// the region.
void expect_implicit_tasks(const RawThread& thread, size_t may_lack) {
  std::vector<uint64_t> open;
  for (const RawRecord& record : thread.records) {
    if (record.kind() == RawKind::omp_implicit_begin) open.push_back(record.words.at(0));
    const bool own = record.kind() == RawKind::omp_implicit_end;
    const bool regions = record.kind() == RawKind::omp_parallel_end;
    ASSERT_TRUE(!own || !open.empty());
    const bool ends = own || (regions && !open.empty() && open.back() == record.words.at(0));
    if (!ends) continue;
    EXPECT_EQ(open.back(), record.words.at(0));
    open.pop_back();
  }
  EXPECT_LE(open.size(), may_lack);
}

/// Implicit tasks nest by region; each region was begun by its master, and has one task a thread.
void expect_consistent_regions(const RawRun& run) {
  std::set<uint64_t> begun;
  std::map<uint64_t, std::set<uint64_t>> members;
  for (const auto& [number, thread] : run.threads) {
    for (const RawRecord* record : thread.of(RawKind::omp_parallel_begin)) {
      EXPECT_TRUE(begun.insert(record->words.at(0)).second) << "number used twice";
    }
    std::vector<uint64_t> inside;
    for (const RawRecord& record : thread.records) {
      if (record.kind() == RawKind::omp_implicit_begin) {
        inside.push_back(record.words.at(0));
        EXPECT_EQ(record.words.at(1) & 0xffffffffu, kThreads);
        EXPECT_TRUE(members[record.words.at(0)].insert(record.words.at(1) >> 32).second);
      } else if (record.kind() == RawKind::omp_implicit_end) {
        ASSERT_FALSE(inside.empty());
        EXPECT_EQ(record.words.at(0), inside.back());
        inside.pop_back();
      } else if (record.kind() == RawKind::omp_wait_begin) {
        ASSERT_FALSE(inside.empty());
        EXPECT_EQ(record.words.at(1), inside.back());
      }
    }
  }
  EXPECT_EQ(begun.size(), kRegions);
  EXPECT_EQ(members.size(), kRegions);
  for (const auto& [region, indices] : members) {
    EXPECT_TRUE(begun.contains(region));
    EXPECT_EQ(indices, (std::set<uint64_t>{0, 1, 2}));
  }
}

/// Mutexes of one kind: acquired in turn, in all threads together `count` times.
void expect_mutexes(const RawRun& run, uint16_t kind, size_t count) {
  size_t acquired = 0;
  for (const auto& [number, thread] : run.threads) {
    expect_pairs(thread, RawKind::omp_mutex_acquire, RawKind::omp_mutex_acquired, 0);
    expect_pairs(thread, RawKind::omp_mutex_acquired, RawKind::omp_mutex_released, 0);
    for (const RawRecord* record : thread.of(RawKind::omp_mutex_acquired)) {
      if (record->header.flags == kind) ++acquired;
    }
  }
  EXPECT_EQ(acquired, count);
}

/// A lock that nobody else holds leaves one record: all three moments in its acquire.
size_t count_compact(const RawRun& run) {
  size_t compact = 0;
  for (const auto& [number, thread] : run.threads) {
    for (const RawRecord* record : thread.of(RawKind::omp_mutex_acquire)) {
      if (record->words.at(2) >> 32 != 0) ++compact;
    }
  }
  return compact;
}

/// Every task created runs: switched to, and left complete, once.
void expect_tasks(const RawRun& run) {
  std::set<uint64_t> created, entered, left;
  for (const auto& [number, thread] : run.threads) {
    for (const RawRecord* record : thread.of(RawKind::omp_task_create)) {
      EXPECT_TRUE(created.insert(record->words.at(0)).second);
    }
    for (const RawRecord* record : thread.of(RawKind::omp_task_switch)) {
      if (record->words.at(0) != 0) entered.insert(record->words.at(0));
      if (record->words.at(1) != 0) left.insert(record->words.at(1));
    }
  }
  EXPECT_EQ(created.size(), kRegions * kTasks);
  EXPECT_EQ(created, entered);
  EXPECT_EQ(created, left);
}

class Constructs : public testing::TestWithParam<Built> {};

TEST_P(Constructs, AreRecordedInFull) {
  const RawRun run = run_built(GetParam());
  EXPECT_EQ(run.process.gomp_redirected, GetParam().way);
  EXPECT_NE(std::string(run.process.omp_runtime), "");
  EXPECT_EQ(run.process.dropped_records, 0u);
  EXPECT_EQ(run.process.failed_unwinds, 0u);
  ASSERT_EQ(run.threads.size(), kThreads);
  EXPECT_EQ(run.threads.at(0).count(RawKind::omp_parallel_begin), kRegions);
  EXPECT_EQ(run.threads.at(0).count(RawKind::omp_parallel_end), kRegions);
  for (const auto& [number, thread] : run.threads) {
    EXPECT_EQ(thread.count(RawKind::omp_thread_begin), 1u);
    const int overdue = number == 0 ? 0 : 1;
    expect_implicit_tasks(thread, overdue);
    expect_pairs(thread, RawKind::omp_sync_begin, RawKind::omp_sync_end, overdue);
    expect_pairs(thread, RawKind::omp_wait_begin, RawKind::omp_wait_end, overdue);
  }
  expect_consistent_regions(run);
}

TEST_P(Constructs, ForksHaveACallPath) {
  const RawRun run = run_built(GetParam());
  for (const RawRecord* record : run.threads.at(0).of(RawKind::omp_parallel_begin)) {
    EXPECT_GE(run.threads.at(0).path(record->header.arg).size(), 3u);
  }
}

std::vector<Built> c_programs() {
  std::vector<Built> all = {{CULPRIT_GCC_PROGRAM, kOnLibomp, "2497560 30\n"},
                            {CULPRIT_GCC_PROGRAM, kOnLibgomp, "2497560 30\n"}};
  if (CULPRIT_CLANG_PROGRAM[0] != '\0')
    all.push_back({CULPRIT_CLANG_PROGRAM, kAsItIs, "2497560 30\n"});
  return all;
}

std::vector<Built> all_programs() {
  std::vector<Built> all = c_programs();
  if (CULPRIT_FORTRAN_PROGRAM[0] != '\0') {
    all.push_back({CULPRIT_FORTRAN_PROGRAM, kOnLibomp, "2502545\n"});
    all.push_back({CULPRIT_FORTRAN_PROGRAM, kOnLibgomp, "2502545\n"});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(OpenMp, Constructs, testing::ValuesIn(all_programs()));

TEST(OpenMp, MutexesAndTasksComeInFull) {
  constexpr uint16_t kLock = 1, kCritical = 5;
  for (const Built& built : c_programs()) {
    const RawRun run = run_built(built);
    expect_mutexes(run, kLock, kRegions * kThreads);
    expect_mutexes(run, kCritical, kRegions * kThreads);
    EXPECT_GT(count_compact(run), kRegions * kThreads);
    expect_tasks(run);
  }
}

struct Needy {
  const char* name;
  const char* program;
  const char* answer;
  const char* lacking;
};

class NeedsMore : public testing::TestWithParam<Needy> {};

/// libomp would abort them, or compute something else.
TEST_P(NeedsMore, StaysOnLibgompAndSaysWhy) {
  Experiment experiment;
  std::string output;
  EXPECT_EQ(experiment.run_program({GetParam().program}, openmp_environment(), &output), 0);
  EXPECT_EQ(output, GetParam().answer);
  const RawRun run = experiment.read_one();
  EXPECT_EQ(run.process.gomp_redirected, kRefused);
  EXPECT_EQ(std::string(run.process.gomp_lacking), GetParam().lacking);
  EXPECT_EQ(run.count(RawKind::omp_parallel_begin), 0u);
}

TEST_P(NeedsMore, IsObservedOnLibgomp) {
  Experiment experiment;
  std::string output;
  EXPECT_EQ(experiment.run_program({GetParam().program}, openmp_environment(kOnLibgomp), &output),
            0);
  EXPECT_EQ(output, GetParam().answer);
  const RawRun run = experiment.read_one();
  EXPECT_EQ(run.process.gomp_redirected, kOnLibgomp);
  EXPECT_GE(run.count(RawKind::omp_parallel_begin), 1u);
  EXPECT_EQ(run.count(RawKind::omp_parallel_begin), run.count(RawKind::omp_parallel_end));
}

INSTANTIATE_TEST_SUITE_P(
    OpenMp, NeedsMore,
    testing::Values(Needy{"target", CULPRIT_TARGET_PROGRAM, "22\n", "GOMP_target_ext"},
                    Needy{"scan", CULPRIT_SCAN_PROGRAM, "5050 171700\n", "GOMP_loop_start"},
                    Needy{"doacross", CULPRIT_DOACROSS_PROGRAM, "4950\n4950\n",
                          "GOMP_doacross_post"},
                    Needy{"detach", CULPRIT_DETACH_PROGRAM, "1\n", "omp_fulfill_event"},
                    Needy{"library", CULPRIT_SCAN_USER, "5050 171700\n", "GOMP_loop_start"}),
    [](const auto& info) { return info.param.name; });

class BuiltByGcc : public testing::TestWithParam<Way> {
 protected:
  RawRun run(const std::vector<std::string>& command, const char* answer) {
    Experiment experiment;
    std::string output;
    EXPECT_EQ(experiment.run_program(command, openmp_environment(GetParam()), &output), 0);
    EXPECT_EQ(output, answer);
    const RawRun run = experiment.read_one();
    EXPECT_EQ(run.process.gomp_redirected, GetParam());
    return run;
  }
};

TEST_P(BuiltByGcc, LoopsAreTheSame) {
  run({CULPRIT_UNUSUAL_LOOPS},
      "dynamic 100 5050\n"
      "guided 48 3816\n"
      "runtime 20 380\n"
      "empty 0 0\n"
      "ordered 100 5050\n"
      "in order 1\n"
      "nested 625 8225\n"
      "tasks 67 3433\n"
      "reduced 1700\n");
}

TEST_P(BuiltByGcc, TasksOfLoopsTakeObjectsAlong) {
  const RawRun found = run({CULPRIT_UNUSUAL_OBJECTS}, "1717 34\n");
  EXPECT_EQ(found.count(RawKind::omp_task_create), 4u);
}

TEST_P(BuiltByGcc, ALibraryThatIsLoadedLateIsObserved) {
  const RawRun found = run({CULPRIT_LATE_PROGRAM, CULPRIT_LATE_LIBRARY}, "6\n");
  EXPECT_EQ(found.count(RawKind::omp_parallel_begin), 1u);
}

/// As packages do that bring their own: it is loaded for one library alone, under another name.
TEST_P(BuiltByGcc, ACopyOfTheRuntimeIsFound) {
  const RawRun found = run({CULPRIT_LATE_PROGRAM, CULPRIT_LATE_LIBRARY_WITH_COPY}, "6\n");
  EXPECT_EQ(found.count(RawKind::omp_parallel_begin), 1u);
}

/// All regions go to one of the copies, as they would if the packages shared theirs.
TEST_P(BuiltByGcc, CopiesOfTheRuntimeAreOne) {
  const RawRun found =
      run({CULPRIT_LATE_PROGRAM, CULPRIT_LATE_LIBRARY_WITH_COPY, CULPRIT_LATE_LIBRARY}, "6\n6\n");
  EXPECT_EQ(found.count(RawKind::omp_parallel_begin), 2u);
}

TEST_P(BuiltByGcc, ThreadsOfTheProgramsOwnForkTeamsEach) {
  const RawRun run = this->run({CULPRIT_THREADS_PROGRAM}, "120\n");
  EXPECT_EQ(run.count(RawKind::omp_parallel_begin), 3u * 10u);
  EXPECT_EQ(run.count(RawKind::omp_parallel_end), 3u * 10u);
  std::set<uint64_t> regions;
  for (const auto& [number, thread] : run.threads) {
    for (const RawRecord* record : thread.of(RawKind::omp_parallel_begin)) {
      EXPECT_TRUE(regions.insert(record->words.at(0)).second);
    }
  }
  EXPECT_EQ(run.process.skipped_callbacks, 0u);
}

INSTANTIATE_TEST_SUITE_P(OpenMp, BuiltByGcc, testing::Values(kOnLibomp, kOnLibgomp),
                         [](const auto& info) {
                           return info.param == kOnLibgomp ? "OnLibgomp" : "OnLibomp";
                         });

TEST(OpenMp, AnotherToolIsLeftItsPlace) {
  for (const Built& built : c_programs()) {
    if (built.way == kOnLibgomp) continue;  // it knows of no tools
    Experiment experiment;
    auto environment = openmp_environment();
    environment["OMP_TOOL_LIBRARIES"] = CULPRIT_OTHER_TOOL;
    std::string output;
    EXPECT_EQ(experiment.run_program({built.program}, environment, &output), 0);
    EXPECT_EQ(output, std::string("other tool\n") + built.answer);
    const RawRun run = experiment.read_one();
    EXPECT_EQ(run.process.declined, trace::RawDeclined::other_tool);
    EXPECT_EQ(run.count(RawKind::omp_parallel_begin), 0u);
  }
}

/// If a thread of the team had to look for a symbol, this would hang.
TEST(OpenMp, ATeamMayWorkWhileItsLibraryIsLoaded) {
  for (const char* runtime : {CULPRIT_LIBOMP, "libgomp", ""}) {
    Experiment experiment;
    auto environment = openmp_environment();
    environment["CULPRIT_OPENMP_RUNTIME"] = runtime;
    std::string output;
    EXPECT_EQ(experiment.run_program({"/usr/bin/timeout", "-s", "KILL", "20", CULPRIT_LOADER,
                                      CULPRIT_TEAM_IN_CONSTRUCTOR},
                                     environment, &output),
              0);
    EXPECT_EQ(output, "49\n");
    EXPECT_EQ(experiment.read().size(), runtime[0] != '\0' ? 1u : 0u);
  }
}

TEST(OpenMp, InertLibraryChangesNothing) {
  Experiment experiment;
  for (const Built& built : all_programs()) {
    std::string output;
    EXPECT_EQ(experiment.run_program({built.program}, {{"CULPRIT_DISABLE", "1"}}, &output), 0);
    EXPECT_EQ(output, built.answer);
  }
  EXPECT_TRUE(experiment.read().empty());
}

}  // namespace
}  // namespace culprit::tests
