// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Who started culprit, and how often, as far as launchers' environments tell; what the first rank
// tells the others.
#include "cli/ranks.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/support/rank_threads.h"

namespace culprit::cli {
namespace {

using Environment = std::map<std::string, const char*>;

std::string launcher(const Environment& environment) {
  const auto found = launched_by([&](const char* name) -> const char* {
    const auto entry = environment.find(name);
    return entry == environment.end() ? nullptr : entry->second;
  });
  return found ? found.value() : "error: " + found.error().sentence;
}

TEST(LaunchedBy, KnowsEachLauncher) {
  EXPECT_EQ(launcher({}), "");
  EXPECT_EQ(launcher({{"OMPI_COMM_WORLD_SIZE", "4"}}), "openmpi");
  EXPECT_EQ(launcher({{"PMI_SIZE", "4"}, {"PMI_RANK", "1"}}), "mpich");
  EXPECT_EQ(launcher({{"SLURM_STEP_NUM_TASKS", "4"}, {"PMIX_RANK", "0"}}), "openmpi");
  EXPECT_EQ(launcher({{"SLURM_STEP_NUM_TASKS", "4"}, {"PMI_FD", "7"}}), "mpich");
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
  testing_support::RankThreads(3).run([](replay::Transport& ranks) {
    if (ranks.rank() > 0) {
      EXPECT_EQ(wait_for_task(ranks), "/a/traces.otf2");
      EXPECT_EQ(wait_for_task(ranks), "");
      return;
    }
    {
      TaskForOthers others(ranks);
      others.tell("/a/traces.otf2");
    }
    TaskForOthers others(ranks);
  });
}

TEST(OpenTogether, FailsOnAllRanksWithTheSameSentence) {
  testing_support::RankThreads(2).run([](replay::Transport& ranks) {
    Losses losses;
    const auto source = open_together(ranks, "/nowhere/traces.otf2", losses);
    ASSERT_FALSE(source.ok());
    EXPECT_NE(source.error().sentence.find("/nowhere/traces.otf2"), std::string::npos);
  });
}

}  // namespace
}  // namespace culprit::cli
