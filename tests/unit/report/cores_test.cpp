// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What is said of cores that threads lacked: who had them, and what helps.
#include "report/verdict/cores.h"

#include <gtest/gtest.h>

#include <string>

namespace culprit::report {
namespace {

using blame::CoreTakerKind;

/// Ranks of one thread on a node, each of which lacked a core for `wait_s` of `runnable_s`.
blame::Findings run_of(uint32_t ranks, uint64_t cores, double runnable_s, double wait_s) {
  blame::Findings findings;
  findings.run.wall_s = 10;
  findings.run.mpi = "Open MPI v4.1.4";
  findings.run.command = "mpirun -n 2 ./app";
  findings.run.ranks = ranks;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    auto& location = findings.locations.emplace_back();
    location.rank = rank;
    location.life_s = 10;
    findings.processes.push_back(
        {rank, "n1", cores, cores, runnable_s - wait_s, wait_s, "app", 100 + rank});
  }
  return findings;
}

void take(blame::Findings& findings, CoreTakerKind kind, double time_s,
          const std::string& name = "", uint64_t process = 0, uint64_t processes = 0) {
  findings.core_takers.push_back({"n1", kind, name, process, processes, time_s, time_s});
}

std::string said(const blame::Findings& findings) {
  const CoreShortage shortage = core_shortage(findings);
  return taker_words(shortage) + "|" + core_sentence(shortage, findings);
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Cores, NamesWhoDisturbed) {
  blame::Findings findings = run_of(2, 2, 10, 4);
  take(findings, CoreTakerKind::others, 7, "stress", 4711, 1);
  take(findings, CoreTakerKind::own, 1);
  const CoreShortage shortage = core_shortage(findings);
  EXPECT_TRUE(shortage.disturbed());
  const std::string text = taker_words(shortage);
  EXPECT_TRUE(text.starts_with("stress (4711) took cores for 35 % of")) << text;
}

// Samples of who had the cores are coarser than what threads lacked.
TEST(Cores, AreNotTakenForMoreThanTheTime) {
  blame::Findings findings = run_of(1, 2, 10, 9);
  take(findings, CoreTakerKind::others, 12, "cc1plus", 0, 4);
  take(findings, CoreTakerKind::helpers, 1);
  const std::string text = said(findings);
  EXPECT_TRUE(has(text, "took cores for 83 % of")) << text;  // 12 of 13 parts of 90 %
}

// Calls that yield while they wait leave their core to whoever wants it.
TEST(Cores, IsNotDisturbedByWhatWaitingThreadsLeaveToOthers) {
  blame::Findings findings = run_of(2, 2, 10, 4);
  take(findings, CoreTakerKind::others, 8, "stress", 4711, 1);
  for (auto& location : findings.locations) location.waiting_s = 4;
  EXPECT_EQ(taker_words(core_shortage(findings)), "");
  findings.locations[1].waiting_s = 0;  // 4 of 16 s that were no waiting
  EXPECT_TRUE(has(said(findings), "stress (4711) took cores for 25 % of"));
}

TEST(Cores, CountsProcessesOfAName) {
  blame::Findings findings = run_of(2, 2, 10, 4);
  take(findings, CoreTakerKind::others, 5, "cc1plus", 0, 7);
  take(findings, CoreTakerKind::others, 3, "");
  const std::string text = said(findings);
  EXPECT_TRUE(has(text, "cc1plus (7 processes) and others took")) << text;
}

TEST(Cores, SaysWhatNobodySees) {
  blame::Findings findings = run_of(2, 2, 10, 4);
  take(findings, CoreTakerKind::others, 8);
  EXPECT_TRUE(has(said(findings), "other programs (unseen from here) took cores"));
}

TEST(Cores, KnowsQuotaAndHypervisor) {
  blame::Findings quota = run_of(1, 2, 10, 4);
  take(quota, CoreTakerKind::quota, 4);
  EXPECT_TRUE(has(said(quota), "CPU quota")) << said(quota);
  blame::Findings steal = run_of(1, 2, 10, 4);
  take(steal, CoreTakerKind::hypervisor, 4);
  EXPECT_TRUE(has(said(steal), "hypervisor")) << said(steal);
}

TEST(Cores, LeavesAQuietMachineAlone) {
  EXPECT_EQ(said(run_of(2, 2, 10, 0.05)), "|");
  blame::Findings little = run_of(2, 2, 10, 0.4);
  take(little, CoreTakerKind::others, 0.8, "cron", 7, 1);
  EXPECT_EQ(said(little), "|");
  blame::Findings brief = run_of(1, 2, 0.05, 0.04);
  take(brief, CoreTakerKind::others, 0.04, "cron", 7, 1);
  EXPECT_TRUE(said(brief).starts_with("|")) << "nobody can tell in so short a time";
}

// Each rank's library has a thread of its own, which no location stands for.
TEST(Cores, CountsLibrariesThreadsAndTellsHowToHaveFewer) {
  blame::Findings findings = run_of(2, 2, 20, 10);
  for (uint32_t rank = 0; rank < 2; ++rank) {
    findings.tasks.push_back({rank, "", "app", 1, true, 5, 5});
    findings.tasks.push_back({rank, "libopenblasp-r0.3.21.so", "app", 1, false, 5, 5});
    findings.tasks.push_back({rank, "libpmix.so.2", "app", 1, false, 0.01, 0});  // sleeps
  }
  take(findings, CoreTakerKind::own, 20);
  const std::string text = said(findings);
  EXPECT_TRUE(
      text.starts_with("|2 ranks with 4 threads (2 of them OpenBLAS's, not recorded) shared "
                       "2 cores: threads were runnable but had no core 50.0 % of"))
      << text;
  EXPECT_TRUE(has(text, "OPENBLAS_NUM_THREADS=1")) << text;
  EXPECT_FALSE(has(text, "pmix")) << text;
}

TEST(Cores, TellsHowToUnbind) {
  blame::Findings findings = run_of(1, 1, 20, 10);
  findings.locations.push_back(findings.locations.front());
  take(findings, CoreTakerKind::binding, 10);
  EXPECT_TRUE(has(said(findings), "2 threads are bound to 1 core")) << said(findings);
  EXPECT_TRUE(has(said(findings), "mpirun --bind-to none")) << said(findings);
  findings.run.command = "srun -n 1 ./app";
  EXPECT_TRUE(has(said(findings), "srun --cpus-per-task=2")) << said(findings);
  findings.run.command = "mpiexec -n 1 ./app";
  findings.run.mpi = "MPICH 4.0";
  EXPECT_TRUE(has(said(findings), "mpiexec -bind-to none")) << said(findings);
}

// Of nodes on which nobody watched, and in older experiments, it is not known who it was.
TEST(Cores, GuessesNobodyWhereNobodyWatched) {
  blame::Findings findings = run_of(1, 2, 10, 5);
  take(findings, CoreTakerKind::unknown, 5);
  EXPECT_TRUE(said(findings).starts_with("|"));
  EXPECT_TRUE(has(said(findings), "other programs, a CPU quota, or threads bound to one core"))
      << said(findings);
}

}  // namespace
}  // namespace culprit::report
