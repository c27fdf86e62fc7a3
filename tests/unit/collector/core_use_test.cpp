// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What is recorded of the cores that a process had.
#include "collector/recorder/core_use.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <bit>
#include <thread>
#include <vector>

#include "child.h"
#include "collector/process/recorder.h"

namespace culprit::tests {
namespace {

using collector::activate;
using collector::thread_log;
using trace::RawKind;

double seconds_on_core(const trace::RawProcess& process) {
  return static_cast<double>(process.on_core_ns) * 1e-9;
}

void spin_for(double seconds) {
  timespec now{};
  do {
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while (static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9 < seconds);
}

TEST(CoreUse, TellsWhatCoresTheProcessHad) {
  Experiment experiment;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &set);
  experiment.run([&] {
    if (sched_setaffinity(0, sizeof set, &set) != 0 || !activate()) return 1;
    spin_for(0.02);
    return 0;
  });
  const trace::RawProcess process = experiment.read_one().process;
  unsigned cores = 0;
  for (const uint64_t word : process.cores) cores += static_cast<unsigned>(std::popcount(word));
  EXPECT_EQ(cores, 1u);
  EXPECT_GE(seconds_on_core(process), 0.02);
}

// Three threads on one core: each has it for a third of the time, and waits for the rest.
TEST(CoreUse, TellsOfThreadsWithoutACoreEvenAfterTheirEnd) {
  Experiment experiment;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(sched_getcpu()), &set);
  experiment.run([&] {
    if (sched_setaffinity(0, sizeof set, &set) != 0 || !activate()) return 1;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([] {
        thread_log();
        spin_for(0.1);
      });
    }
    for (std::thread& thread : threads) thread.join();
    return 0;
  });
  const trace::RawProcess process = experiment.read_one().process;
  EXPECT_GE(seconds_on_core(process), 0.3);
  EXPECT_GE(process.core_wait_ns, 300'000'000u);
}

// Looks come about once a second: what was seen last is there, however the process ends.
TEST(CoreUse, IsToldBeforeTheProcessIsKilled) {
  Experiment experiment;
  experiment.run([] {
    if (!activate() || thread_log() == nullptr) return 1;
    std::thread other([] { spin_for(0.05); });
    spin_for(0.05);
    other.join();
    std::thread living([] { pause(); });
    collector::refresh_core_use(thread_log());
    kill(getpid(), SIGKILL);
    living.join();
    return 0;
  });
  const RawRun run = experiment.read_one();
  EXPECT_EQ(run.process.ended, 0u);
  EXPECT_GE(seconds_on_core(run.process), 0.05);
  size_t had = 0, tasks = 0;
  for (const RawRecord& record : run.threads.at(0).records) {
    had += record.kind() == RawKind::cores_had;
    tasks += record.kind() == RawKind::task_use;
  }
  EXPECT_EQ(had, 1u);
  EXPECT_GE(tasks, 1u);
}

}  // namespace
}  // namespace culprit::tests
