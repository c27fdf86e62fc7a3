// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Samples of a busy loop. How many come depends on the machine; that they come, and from where,
// does not.
#include <gtest/gtest.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "collector/probes.h"
#include "collector/process/fault_guard.h"
#include "collector/process/recorder.h"
#include "collector/sampling/rate.h"

namespace culprit::tests {
namespace {

using collector::activate;
using collector::now;
using collector::thread_log;
using trace::RawKind;

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

volatile uint64_t g_work = 0;

[[gnu::noinline]] void burn(double seconds) {
  const double end = cpu_seconds() + seconds;
  while (cpu_seconds() < end) {
    for (int i = 0; i < 100000; ++i) g_work = g_work * 3 + 1;
  }
}

const std::map<std::string, std::string> kFast = {{"CULPRIT_SAMPLING", "1000"}};

TEST(Sampling, ReadsTheClocksAgainBeforeTheProgramIsKilled) {
  Experiment experiment;
  experiment.run(
      [] {
        collector::start_probes();
        if (!activate() || thread_log() == nullptr) return 1;
        thread_log()->put(RawKind::mpi_leave, now());
        burn(1.2);
        return raise(SIGKILL);
      },
      {{"CULPRIT_SAMPLING", "10"}});
  const RawRun run = experiment.read_one();
  const auto marks = run.threads.at(0).of(RawKind::mpi_leave);
  ASSERT_EQ(marks.size(), 1u);
  EXPECT_EQ(run.process.ended, 0u);
  EXPECT_GT(run.process.last.ticks, marks[0]->header.time);
}

TEST(Sampling, FindsTheBusyLoop) {
  Experiment experiment;
  experiment.run(
      [] {
        collector::start_probes();
        if (!activate() || thread_log() == nullptr) return 1;
        burn(0.3);
        return 0;
      },
      kFast);
  const RawRun run = experiment.read_one();
  const RawThread& thread = run.threads.at(0);
  const auto samples = thread.of(RawKind::sample);
  ASSERT_GT(samples.size(), 10u);
  EXPECT_EQ(run.process.sampling_hz, 1000u);
  const auto begin = reinterpret_cast<uintptr_t>(&burn);
  size_t in_burn = 0;
  uint64_t expirations = 0;
  for (const RawRecord* sample : samples) {
    expirations += 1 + sample->header.flags;
    for (const uint64_t address : thread.path(sample->header.arg)) {
      if (address < begin || address > begin + 1000) continue;
      ++in_burn;
      break;
    }
  }
  EXPECT_GT(in_burn, samples.size() * 9 / 10);
  EXPECT_GE(expirations, samples.size());
}

TEST(Sampling, SkipsThreadsThatWait) {
  Experiment experiment;
  experiment.run(
      [] {
        collector::start_probes();
        if (!activate() || thread_log() == nullptr) return 1;
        thread_log()->waiting = 1;
        burn(0.2);
        return 0;
      },
      kFast);
  EXPECT_EQ(experiment.read_one().count(RawKind::sample), 0u);
}

int g_own_signals = 0;

// Samples use another one.
TEST(Sampling, LeavesTheProgramItsSignal) {
  for (const bool comes_first : {true, false}) {
    Experiment experiment;
    const int status = experiment.run(
        [comes_first] {
          const auto take = [] { return signal(SIGURG, [](int) { ++g_own_signals; }); };
          if (comes_first && take() != SIG_DFL) return 1;
          collector::start_probes();
          if (!activate() || thread_log() == nullptr) return 2;
          burn(0.1);
          if (!comes_first && take() != SIG_DFL) return 3;
          raise(SIGURG);
          burn(0.1);
          return g_own_signals == 1 ? 0 : 4;
        },
        kFast);
    EXPECT_EQ(WEXITSTATUS(status), 0);
    const RawRun run = experiment.read_one();
    EXPECT_GT(run.count(RawKind::sample), 0u);
    EXPECT_EQ(run.process.sampling_hz, 1000u);
    EXPECT_EQ(run.process.displaced_samplers, 0u);
    EXPECT_EQ(run.process.samples_begun, 0u);
  }
}

bool sampling_is_blocked() {
  sigset_t mask;
  sigemptyset(&mask);
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  return sigismember(&mask, SIGURG) == 1;
}

bool g_blocked_in_fork = false;

/// Older kernels begin a fork again that a signal interrupts: that of a large process would never
/// come to its end.
TEST(Sampling, DoesNotInterruptAFork) {
  Experiment experiment;
  const int status = experiment.run(
      [] {
        // Handlers that were registered first run last before a fork.
        pthread_atfork([] { g_blocked_in_fork = sampling_is_blocked(); }, nullptr, nullptr);
        collector::start_probes();
        if (!activate() || thread_log() == nullptr) return 1;
        if (sampling_is_blocked()) return 2;
        const pid_t child = fork();
        if (child == 0) _exit(sampling_is_blocked() ? 1 : 0);
        int in_child = 0;
        waitpid(child, &in_child, 0);
        if (in_child != 0) return 3;
        if (sampling_is_blocked()) return 4;
        return g_blocked_in_fork ? 0 : 5;
      },
      kFast);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// The handler must never meet a half-written record: read() checks each.
TEST(Sampling, MixesWithRecording) {
  Experiment experiment;
  experiment.run(
      [] {
        collector::start_probes();
        if (!activate()) return 1;
        const double end = cpu_seconds() + 0.4;
        for (uint32_t i = 0; cpu_seconds() < end; ++i) {
          for (int k = 0; k < 20; ++k) {
            const uint64_t time = now();
            const auto path = static_cast<uint32_t>(thread_log()->current_path());
            thread_log()->put(RawKind::mpi_enter, time, 0, path);
          }
        }
        return 0;
      },
      {{"CULPRIT_SAMPLING", "10000"}});
  const RawRun run = experiment.read_one();
  EXPECT_GT(run.count(RawKind::sample), 0u);
  EXPECT_GT(run.count(RawKind::mpi_enter), 1000u);
}

using collector::sampling::Rate;

/// Goes on with samples of this cost until the period has been decided `times` times.
void decide(Rate& rate, uint64_t cost_ns, int times) {
  for (int i = 0; i < 16 * times; ++i) rate.account(cost_ns, 1);
}

// The cost of samples stays below 1 % of the time whatever one of them costs.
TEST(SamplingRate, SlowsUntilSamplesAreCheapEnough) {
  for (const uint64_t cost : {100u, 9'000u, 50'000u, 1'000'000u}) {
    Rate rate{};
    rate.begin(1'000'000);
    decide(rate, cost, 20);
    EXPECT_LE(100 * cost, rate.period_ns());
    EXPECT_LE(rate.period_ns(), std::max<uint64_t>(1'000'000, 200 * cost));
  }
}

TEST(SamplingRate, ComesBackWhenTheyAreCheapAgain) {
  Rate rate{};
  rate.begin(1'000'000);
  decide(rate, 100'000, 10);
  const uint64_t slow = rate.period_ns();
  EXPECT_EQ(slow, 16'000'000u);
  decide(rate, 60'000, 10);  // affordable, but at half the period only just
  EXPECT_EQ(rate.period_ns(), slow);
  decide(rate, 1'000, 10);
  EXPECT_EQ(rate.period_ns(), 1'000'000u);
}

TEST(SamplingRate, CountsEveryPeriodThatASignalStandsFor) {
  Rate rate{};
  rate.begin(100'000);
  for (int i = 0; i < 160; ++i) rate.account(30'000, 40);
  EXPECT_EQ(rate.period_ns(), 100'000u);
}

volatile int g_program_faults = 0;
sigjmp_buf g_after_fault;

void on_program_fault(int) {
  g_program_faults = g_program_faults + 1;
  siglongjmp(g_after_fault, 1);
}

void read_nowhere(void*) {
  volatile uintptr_t place = 8;
  volatile int* nowhere = reinterpret_cast<int*>(place);
  (void)*nowhere;
}

// Faults under the guard are ours, all others the program's, as before.
TEST(FaultGuard, KeepsItsFaultsAndPassesOnOthers) {
  using collector::run_guarded;
  Experiment experiment;
  const int own = experiment.run([] {
    signal(SIGSEGV, on_program_fault);
    if (run_guarded(read_nowhere, nullptr) || g_program_faults != 0) return 1;
    if (!run_guarded([](void*) {}, nullptr)) return 2;
    if (sigsetjmp(g_after_fault, 1) == 0) read_nowhere(nullptr);
    return g_program_faults == 1 && !run_guarded(read_nowhere, nullptr) ? 0 : 3;
  });
  EXPECT_TRUE(WIFEXITED(own));
  EXPECT_EQ(WEXITSTATUS(own), 0);
  const int deadly = experiment.run([] {
    if (run_guarded(read_nowhere, nullptr)) return 1;
    read_nowhere(nullptr);
    return 2;
  });
  EXPECT_TRUE(WIFSIGNALED(deadly));
  EXPECT_EQ(WTERMSIG(deadly), SIGSEGV);
}

bool was_killed_by_fault(int status) {
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV;
}

// What a program asked of the system together with its handler.
TEST(FaultGuard, KeepsTheFlagsOfTheProgramsAction) {
  using collector::run_guarded;
  Experiment experiment;
  const auto set = [](void (*handler)(int), int flags) {
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaction(SIGSEGV, &action, nullptr);
    alarm(20);  // rather than faulting for ever
    return !run_guarded(read_nowhere, nullptr);
  };
  const int once = experiment.run([&] {
    if (!set([](int) { g_program_faults = g_program_faults + 1; }, SA_RESETHAND)) return 1;
    raise(SIGSEGV);
    if (g_program_faults != 1) return 2;
    read_nowhere(nullptr);
    return 3;
  });
  EXPECT_TRUE(was_killed_by_fault(once)) << once;
  const int nested = experiment.run([&] {
    const auto handler = [](int) {
      g_program_faults = g_program_faults + 1;
      if (g_program_faults == 1) {
        raise(SIGSEGV);
        if (g_program_faults != 2) _exit(2);
      }
    };
    if (!set(handler, SA_NODEFER)) return 1;
    raise(SIGSEGV);
    return g_program_faults == 2 ? 0 : 3;
  });
  EXPECT_TRUE(WIFEXITED(nested));
  EXPECT_EQ(WEXITSTATUS(nested), 0);
  const int ignored = experiment.run([&] {
    if (!set(SIG_IGN, 0)) return 1;
    raise(SIGSEGV);
    read_nowhere(nullptr);
    return 2;
  });
  EXPECT_TRUE(was_killed_by_fault(ignored)) << ignored;
}

}  // namespace
}  // namespace culprit::tests
