// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the OpenMP probe records of constructs beyond their begin and end, of the same program built
// by each compiler found. Which thread runs a task, and whether the one that it depends on has
// ended before anybody notices the dependence, is left to chance.
#include <gtest/gtest.h>

#include <set>

#include "child.h"

namespace culprit::tests {
namespace {

using trace::RawKind;

constexpr size_t kRounds = 9;  // 3 regions of 3 threads
constexpr uint64_t kIterations = 100;

struct Built {
  const char* name;
  const char* program;
  const char* runtime;  ///< CULPRIT_OPENMP_RUNTIME
  const char* answer;
  bool detaches;  ///< has detached tasks
};

std::vector<Built> programs() {
  std::vector<Built> all = {
      {"gcc", CULPRIT_GCC_MEANINGS, CULPRIT_LIBOMP, "1 9 18 29702\n", false},
      {"libgomp", CULPRIT_LIBGOMP_MEANINGS, "libgomp", "1 18 18 29702\n", true}};
  if (CULPRIT_CLANG_MEANINGS[0] != '\0') {
    all.push_back({"clang", CULPRIT_CLANG_MEANINGS, CULPRIT_LIBOMP, "1 18 18 29702\n", true});
  }
  return all;
}

class Meanings : public testing::TestWithParam<Built> {
 protected:
  void SetUp() override {
    std::string output;
    const int status = experiment_.run_program({GetParam().program},
                                               {{"CULPRIT_OPENMP_RUNTIME", GetParam().runtime},
                                                {"OMP_WAIT_POLICY", "passive"},
                                                {"OMP_CANCELLATION", "true"}},
                                               &output);
    ASSERT_EQ(status, 0);
    ASSERT_EQ(output, GetParam().answer);
    run_ = experiment_.read_one();
  }

  std::vector<const RawRecord*> all(RawKind kind) const {
    std::vector<const RawRecord*> records;
    for (const auto& [number, thread] : run_.threads) {
      for (const RawRecord* record : thread.of(kind)) records.push_back(record);
    }
    return records;
  }
  size_t count(RawKind kind, uint16_t flags) const {
    size_t found = 0;
    for (const RawRecord* record : all(kind)) found += record->header.flags == flags ? 1 : 0;
    return found;
  }

  Experiment experiment_;
  RawRun run_;
};

TEST_P(Meanings, TasksHaveFlags) {
  constexpr uint32_t kExplicit = 4, kTaskwait = 0x10, kUndeferred = 0x08000000,
                     kUntied = 0x10000000, kFinal = 0x20000000;
  size_t undeferred = 0, final_untied = 0, taskwaits = 0, others = 0;
  std::set<uint64_t> numbers;
  for (const RawRecord* record : all(RawKind::omp_task_create)) {
    EXPECT_TRUE(numbers.insert(record->words.at(0)).second);
    const uint32_t flags = record->header.arg;
    if ((flags & kTaskwait) != 0) {
      ++taskwaits;
    } else {
      EXPECT_NE(flags & kExplicit, 0u);
      undeferred += (flags & kUndeferred) != 0 ? 1 : 0;
      final_untied += (flags & kFinal) != 0 && (flags & kUntied) != 0 ? 1 : 0;
      others += (flags & (kUndeferred | kFinal)) == 0 ? 1 : 0;
    }
  }
  EXPECT_EQ(taskwaits, kRounds);
  EXPECT_GE(undeferred, kRounds);
  EXPECT_EQ(final_untied, kRounds);
  EXPECT_EQ(others, (GetParam().detaches ? 3 : 2) * kRounds);
}

TEST_P(Meanings, DependencesNameTasksAndData) {
  std::set<uint64_t> created;
  for (const RawRecord* record : all(RawKind::omp_task_create)) created.insert(record->words.at(0));
  size_t pairs = 0;
  for (const RawRecord* record : all(RawKind::omp_task_depends)) {
    EXPECT_TRUE(created.contains(record->words.at(0)));
    ASSERT_EQ(record->words.size() % 2, 1u);
    pairs += record->words.size() / 2;
  }
  EXPECT_EQ(pairs, 4 * kRounds);  // one, two, and one of the taskwait
  for (const RawRecord* record : all(RawKind::omp_task_edge)) {
    EXPECT_TRUE(created.contains(record->words.at(0)));
    EXPECT_TRUE(created.contains(record->words.at(1)));
    EXPECT_LT(record->words.at(0), record->words.at(1));  // one thread creates both
  }
}

TEST_P(Meanings, TasksEndWithoutBeingLeft) {
  constexpr uint16_t kEarlyFulfill = 5, kLateFulfill = 6, kTaskwaitComplete = 8;
  EXPECT_EQ(count(RawKind::omp_task_fulfilled, kTaskwaitComplete), kRounds);
  EXPECT_EQ(count(RawKind::omp_task_fulfilled, kEarlyFulfill) +
                count(RawKind::omp_task_fulfilled, kLateFulfill),
            GetParam().detaches ? kRounds : 0);
}

TEST_P(Meanings, LoopsSayHowTheyWereShared) {
  constexpr uint16_t kDynamic = 11, kGuided = 12;
  for (const uint16_t schedule : {kDynamic, kGuided}) {
    uint64_t begun = 0, chunks = 0, iterations = 0;
    for (const RawRecord* record : all(RawKind::omp_work_begin)) {
      if (record->header.flags != schedule) continue;
      ++begun;
      EXPECT_EQ(record->words.at(1), kIterations);
    }
    for (const RawRecord* record : all(RawKind::omp_work_end)) {
      if (record->header.flags != schedule) continue;
      const auto share = record->as<trace::raw::omp_work_end>();
      chunks += share.chunks;
      iterations += share.iterations;
    }
    EXPECT_EQ(begun, kRounds);
    EXPECT_EQ(iterations, kRounds / 3 * kIterations);
    if (schedule == kDynamic) {
      EXPECT_EQ(chunks, kRounds / 3 * 15);  // of 7 iterations
    }
  }
}

TEST_P(Meanings, LocksAreBornNestAndDie) {
  constexpr uint16_t kLock = 1, kNestLock = 3, kBegin = 1, kEnd = 2;
  std::map<uint16_t, uint64_t> lock;
  for (const uint16_t kind : {kLock, kNestLock}) {
    EXPECT_EQ(count(RawKind::omp_lock_init, kind), 1u);
    EXPECT_EQ(count(RawKind::omp_lock_destroy, kind), 1u);
    EXPECT_EQ(count(RawKind::omp_mutex_acquired, kind), 1u);
    EXPECT_EQ(count(RawKind::omp_mutex_released, kind), 1u);
  }
  for (const RawRecord* record : all(RawKind::omp_lock_init)) {
    lock[record->header.flags] = record->words.at(0);
  }
  EXPECT_EQ(count(RawKind::omp_nest_lock, kBegin), 1u);
  EXPECT_EQ(count(RawKind::omp_nest_lock, kEnd), 1u);
  for (const RawRecord* record : all(RawKind::omp_nest_lock)) {
    EXPECT_EQ(record->words.at(0), lock[kNestLock]);
  }
}

TEST_P(Meanings, CancellationIsTold) {
  constexpr uint16_t kParallel = 1;
  size_t cancelled = 0;
  for (const RawRecord* record : all(RawKind::omp_cancel)) {
    cancelled += (record->header.flags & kParallel) != 0 ? 1 : 0;
  }
  EXPECT_GE(cancelled, 1u);
}

INSTANTIATE_TEST_SUITE_P(OpenMp, Meanings, testing::ValuesIn(programs()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace culprit::tests
