// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Call paths against another unwinder as oracle: whatever way the memo takes, a path must be what a
// fresh look at the stack says.
#include <execinfo.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <random>
#include <set>

#include "child.h"
#include "collector/callpath/path_tree.h"
#include "collector/process/recorder.h"

namespace culprit::tests {
namespace {

using collector::activate;
using collector::now;
using collector::PathId;
using collector::thread_log;
using collector::ThreadLog;
using trace::RawKind;

constexpr unsigned kMaxFrames = 400;

/// Records the path twice: as the recorder says (arg), and as backtrace() does (words). The first
/// address of each lies in this function, at different calls, and is left out.
[[gnu::noinline]] uint32_t observe(ThreadLog& log) {
  void* frames[kMaxFrames];
  const int count = backtrace(frames, kMaxFrames);
  const auto path = static_cast<uint32_t>(log.current_path());
  uint64_t words[255];
  const unsigned kept = count - 1 < 255 ? static_cast<unsigned>(count - 1) : 255;
  for (unsigned i = 0; i < kept; ++i) words[i] = reinterpret_cast<uintptr_t>(frames[i + 1]);
  log.put_words(RawKind::mpi_comm_def, now(), 0, path, words, kept);
  return path;
}

[[gnu::noinline]] uint32_t recurse(ThreadLog& log, unsigned depth);

[[gnu::noinline]] uint32_t other_way(ThreadLog& log, unsigned depth) {
  volatile char frame_size[64] = {};
  return recurse(log, depth) + static_cast<uint32_t>(frame_size[0]);
}

[[gnu::noinline]] uint32_t recurse(ThreadLog& log, unsigned depth) {
  if (depth == 0) return observe(log);
  volatile uint32_t result = depth % 3 == 0 ? other_way(log, depth - 1) : recurse(log, depth - 1);
  return result;
}

/// Same caller of observe(), same stack pointer, different parents.
[[gnu::noinline]] uint32_t shared(ThreadLog& log) {
  volatile uint32_t result = observe(log);
  return result;
}
[[gnu::noinline]] uint32_t left(ThreadLog& log) {
  volatile uint32_t result = shared(log);
  return result;
}
[[gnu::noinline]] uint32_t right(ThreadLog& log) {
  volatile uint32_t result = shared(log);
  return result;
}

/// A frame whose size varies, below which everything else moves.
[[gnu::noinline]] uint32_t varying(ThreadLog& log, size_t bytes) {
  auto* space = static_cast<volatile char*>(__builtin_alloca(bytes));
  space[0] = 1;
  return shared(log) * static_cast<uint32_t>(space[0]);
}

void expect_oracle_agrees(const RawRun& run) {
  const RawThread& thread = run.threads.at(0);
  size_t checked = 0;
  for (const RawRecord* record : thread.of(RawKind::mpi_comm_def)) {
    std::vector<uint64_t> path = thread.path(record->header.arg);
    ASSERT_FALSE(path.empty());
    path.erase(path.begin());
    ASSERT_EQ(path, record->words);
    ++checked;
  }
  EXPECT_GT(checked, 0u);
  EXPECT_EQ(run.process.failed_unwinds, 0u);
}

TEST(CallPath, AgreesWithTheOracleAtAllDepths) {
  Experiment experiment;
  experiment.run([] {
    if (!activate()) return 1;
    std::mt19937 random(1);
    for (int i = 0; i < 3000; ++i) recurse(*thread_log(), random() % 40);
    return 0;
  });
  const RawRun run = experiment.read_one();
  expect_oracle_agrees(run);
  EXPECT_LT(run.count(RawKind::path_def), 1000u);  // far fewer than observations
}

TEST(CallPath, TellsParentsApart) {
  Experiment experiment;
  const int status = experiment.run([] {
    if (!activate()) return 1;
    uint32_t paths[4];
    for (int i = 0; i < 4; ++i) {
      paths[i] = i % 2 == 0 ? left(*thread_log()) : right(*thread_log());
    }
    return paths[0] != paths[1] && paths[0] == paths[2] && paths[1] == paths[3] ? 0 : 2;
  });
  EXPECT_EQ(WEXITSTATUS(status), 0);
  expect_oracle_agrees(experiment.read_one());
}

/// Each leaf of the tree has a call path of its own, and all lie at the same place in the stack.
[[gnu::noinline]] void visit_tree(ThreadLog& log, unsigned depth) {
  if (depth == 0) {
    observe(log);
    return;
  }
  visit_tree(log, depth - 1);
  asm volatile("" ::: "memory");
  visit_tree(log, depth - 1);
  asm volatile("" ::: "memory");
}

TEST(CallPath, TakesWhatDiffersFromTheLastStack) {
  Experiment experiment;
  experiment.run([] {
    if (!activate()) return 1;
    // One call, not two that the compiler makes of it.
    for (int i = 0; i < 2; ++i) {
      visit_tree(*thread_log(), 10);
      asm volatile("" : "+r"(i));
    }
    return 0;
  });
  const RawRun run = experiment.read_one();
  expect_oracle_agrees(run);
  std::set<uint32_t> paths;
  for (const RawRecord* record : run.threads.at(0).of(RawKind::mpi_comm_def)) {
    paths.insert(record->header.arg);
  }
  EXPECT_EQ(paths.size(), 1024u);  // the second time they are the same
}

TEST(CallPath, FollowsFramesThatVaryInSize) {
  Experiment experiment;
  experiment.run([] {
    if (!activate()) return 1;
    std::mt19937 random(2);
    for (int i = 0; i < 2000; ++i) varying(*thread_log(), 16 + random() % 5 * 160);
    return 0;
  });
  expect_oracle_agrees(experiment.read_one());
}

TEST(CallPath, KeepsTheInnermostOfTooDeepStacks) {
  Experiment experiment;
  experiment.run([] {
    if (!activate()) return 1;
    recurse(*thread_log(), 300);
    return 0;
  });
  const RawRun run = experiment.read_one();
  const RawRecord& seen = *run.threads.at(0).of(RawKind::mpi_comm_def).at(0);
  std::vector<uint64_t> path = run.threads.at(0).path(seen.header.arg);
  ASSERT_EQ(path.size(), 256u);
  path.erase(path.begin());
  EXPECT_TRUE(std::equal(seen.words.begin(), seen.words.end(), path.begin()));
  EXPECT_EQ(run.process.failed_unwinds, 1u);
}

// In processes of their own: the budget for paths is read from the environment once.
TEST(PathTree, NumbersChildrenOnceAndGrows) {
  Experiment experiment;
  const int status = experiment.run([] {
    collector::PathTree tree;
    for (int round = 0; round < 2; ++round) {
      uint32_t expected = 0;
      for (uint32_t parent = 0; parent < 100; ++parent) {
        for (uintptr_t address = 1; address <= 200; ++address) {
          const auto node = tree.child(parent, address * 16);
          if (node.id != ++expected || node.is_new != (round == 0)) return 1;
        }
      }
    }
    tree.release();
    return 0;
  });
  EXPECT_EQ(status, 0);
}

TEST(PathTree, ForgetsWhereItMayTakeNoMoreMemory) {
  Experiment experiment;
  const int status = experiment.run(
      [] {
        if (!activate()) return 1;
        collector::PathTree tree;
        for (uint32_t i = 1; i <= 100000; ++i) {
          const auto node = tree.child(0, i * 16);
          if (!node.is_new || node.id != i) return 2;
          const auto again = tree.child(0, i * 16);
          if (again.is_new || again.id != i) return 3;
        }
        const auto forgotten = tree.child(0, 16);
        tree.release();
        return forgotten.is_new && forgotten.id == 100001 ? 0 : 4;
      },
      {{"CULPRIT_MEMORY", "1"}});
  EXPECT_EQ(status, 0);
  EXPECT_GT(experiment.read_one().process.forgotten_paths, 0u);
}

[[gnu::noinline]] void deep(ThreadLog& log, unsigned turns, unsigned depth, unsigned& paths) {
  if (depth == 0) {
    log.put(RawKind::mpi_enter, now(), 0, static_cast<uint32_t>(log.current_path()));
    ++paths;
  } else if ((turns & 1) != 0) {
    deep(log, turns >> 1, depth - 1, paths);
    asm volatile("" ::: "memory");
  } else {
    deep(log, turns >> 1, depth - 1, paths);
    asm volatile("nop" ::: "memory");
  }
}

/// More paths than the memo may hold: those after it forgot are as right as those before.
TEST(CallPath, StaysRightWithLittleMemory) {
  constexpr unsigned kDepth = 14;
  Experiment experiment;
  const int status = experiment.run(
      [] {
        if (!activate()) return 1;
        unsigned paths = 0;
        for (unsigned turns = 0; turns < 1u << kDepth; ++turns) {
          deep(*thread_log(), turns, kDepth, paths);
        }
        return paths == 1u << kDepth ? 0 : 2;
      },
      {{"CULPRIT_MEMORY", "1"}});
  ASSERT_EQ(status, 0);
  const RawRun run = experiment.read_one();
  EXPECT_GT(run.process.forgotten_paths, 1u);
  EXPECT_EQ(run.process.failed_unwinds, 0u);
  // Each way through `deep` leaves other return addresses.
  std::set<std::vector<uint64_t>> paths;
  for (const RawRecord* call : run.threads.at(0).of(RawKind::mpi_enter)) {
    paths.insert(run.threads.at(0).path(call->header.arg));
  }
  EXPECT_EQ(paths.size(), 1u << kDepth);
}

}  // namespace
}  // namespace culprit::tests
