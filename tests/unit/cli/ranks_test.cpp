// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Who started culprit, and how often, as far as launchers' environments tell; what the first rank
// tells the others.
#include "cli/ranks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <thread>

#include "tests/support/rank_threads.h"

namespace culprit::cli {
namespace {

using Environment = std::map<std::string, const char*>;

std::string launcher(const Environment& environment) {
  const auto found = launched_by([&](const char* name) -> const char* {
    const auto entry = environment.find(name);
    return entry == environment.end() ? nullptr : entry->second;
  });
  if (!found) return "error: " + found.error().sentence;
  const auto& [mpi, copies] = found.value();
  return mpi.empty() ? "" : mpi + " " + std::to_string(copies);
}

TEST(LaunchedBy, KnowsEachLauncher) {
  EXPECT_EQ(launcher({}), "");
  EXPECT_EQ(launcher({{"OMPI_COMM_WORLD_SIZE", "4"}}), "openmpi 4");
  EXPECT_EQ(launcher({{"PMI_SIZE", "4"}, {"PMI_RANK", "1"}}), "mpich 4");
  EXPECT_EQ(launcher({{"SLURM_STEP_NUM_TASKS", "4"}, {"PMIX_RANK", "0"}}), "openmpi 4");
  EXPECT_EQ(launcher({{"SLURM_STEP_NUM_TASKS", "4"}, {"PMI_FD", "7"}}), "mpich 4");
}

TEST(LaunchedBy, OneCopyNeedsNoMpi) {
  EXPECT_EQ(launcher({{"OMPI_COMM_WORLD_SIZE", "1"}}), "");
  EXPECT_EQ(launcher({{"PMI_SIZE", "1"}}), "");
  // A batch script's step has one task, whatever the job has.
  EXPECT_EQ(launcher({{"SLURM_NTASKS", "64"}, {"SLURM_STEP_NUM_TASKS", "1"}}), "");
}

TEST(LaunchedBy, SaysWhatToDoWhereCopiesCannotTalk) {
  const std::string said = launcher({{"SLURM_STEP_NUM_TASKS", "4"}});
  EXPECT_NE(said.find("--mpi=pmix"), std::string::npos) << said;
}

TEST(TaskForOthers, TellsTheTraceOrThatThereIsNone) {
  testing_support::RankThreads(3).run([](Transport& ranks) {
    if (ranks.rank() > 0) {
      const Task task = wait_for_task(ranks);
      EXPECT_EQ(task.what, Task::What::archive);
      EXPECT_EQ(task.place, "/a/traces.otf2");
      EXPECT_EQ(wait_for_task(ranks).what, Task::What::nothing);
      return;
    }
    {
      TaskForOthers others(ranks);
      others.tell({Task::What::archive, "/a/traces.otf2"});
    }
    TaskForOthers others(ranks);
  });
}

TEST(CheckSame, RefusesCopiesThatWereToldDifferentThings) {
  testing_support::RankThreads(3).run([](Transport& ranks) {
    EXPECT_TRUE(check_same(ranks, "analyze a").ok());
    const auto mixed = check_same(ranks, ranks.rank() == 2 ? "analyze b" : "analyze a");
    ASSERT_FALSE(mixed.ok());
    EXPECT_NE(mixed.error().sentence.find("analyze b"), std::string::npos);
  });
}

TEST(ThreadsFor, SharesTheProcessorsOfANode) {
  testing_support::RankThreads(2).run([](Transport& ranks) {
    EXPECT_EQ(threads_for(ranks, 5), 5u);
    // Both are on one node, with the same processors.
    const unsigned one = std::max(1u, std::thread::hardware_concurrency() / 2);
    EXPECT_EQ(threads_for(ranks, 0), one);
  });
  Alone alone;
  EXPECT_EQ(threads_for(alone, 0), 0u);  // all cores
}

TEST(OpenTogether, FailsOnAllRanksWithTheSameSentence) {
  testing_support::RankThreads(2).run([](Transport& ranks) {
    Losses losses;
    const auto source = open_together(ranks, "/nowhere/traces.otf2", losses);
    ASSERT_FALSE(source.ok());
    EXPECT_NE(source.error().sentence.find("/nowhere/traces.otf2"), std::string::npos);
  });
}

}  // namespace
}  // namespace culprit::cli
