// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the threads of a process share in the recorder, used by many at once: threads begin and end,
// all count, some take maps, one ends the process. ThreadSanitizer watches this; without it, only
// what comes out is judged.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <atomic>
#include <thread>

#include "child.h"
#include "collector/process/code_map.h"
#include "collector/process/lifecycle.h"
#include "collector/process/process_record.h"
#include "collector/process/recorder.h"

namespace culprit::tests {
namespace {

using collector::activate;
using collector::now;
using collector::thread_log;
using trace::RawKind;

constexpr unsigned kThreads = 8;

template <class Body>
void in_threads(Body body) {
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < kThreads; ++t) threads.emplace_back(body, t);
  for (std::thread& thread : threads) thread.join();
}

TEST(Hammer, OneOfManyThreadsActivates) {
  Experiment experiment;
  const int status = experiment.run([] {
    std::atomic<unsigned> active{0};
    in_threads([&](unsigned) {
      if (activate()) ++active;
      thread_log()->put(RawKind::mpi_leave, now());
    });
    return active == kThreads ? 0 : 1;
  });
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(experiment.read_one().count(RawKind::mpi_leave), kThreads);
}

TEST(Hammer, ThreadsComeAndGo) {
  Experiment experiment;
  constexpr unsigned kEach = 30;
  const int status = experiment.run([] {
    if (!activate()) return 1;
    in_threads([](unsigned) {
      for (unsigned i = 0; i < kEach; ++i) {
        std::thread([] {
          static_cast<void>(thread_log()->current_path());
          thread_log()->put(RawKind::mpi_leave, now());
        }).join();
      }
    });
    return 0;
  });
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  const RawRun run = experiment.read_one();
  EXPECT_EQ(run.count(RawKind::mpi_leave), kThreads * kEach);
  EXPECT_EQ(run.process.thread_count, kThreads * kEach + 1);
}

TEST(Hammer, AllCountAndRefreshAtOnce) {
  Experiment experiment;
  constexpr unsigned kEach = 2000;
  const int status = experiment.run([] {
    if (!activate()) return 1;
    in_threads([](unsigned thread) {
      for (unsigned i = 0; i < kEach; ++i) {
        collector::tally(&trace::RawProcess::failed_unwinds);
        thread_log()->put(RawKind::mpi_leave, now());
        if (i % 200 == thread) collector::checkpoint();
        if (i % 500 == thread) collector::code_map::refresh();
        if (i % 100 == 0) collector::refresh_clock_pair();
        static_cast<void>(collector::code_map::owner_of(i * 4096));
      }
    });
    return 0;
  });
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  const RawRun run = experiment.read_one();
  EXPECT_EQ(run.process.failed_unwinds, kThreads * kEach);
  EXPECT_EQ(run.count(RawKind::mpi_leave), kThreads * kEach);
}

TEST(Hammer, TheProcessEndsWhileOthersRecord) {
  Experiment experiment;
  const int status = experiment.run([] {
    if (!activate()) return 1;
    std::atomic<bool> stop{false};
    std::vector<std::thread> threads;
    std::atomic<unsigned> recording{0};
    for (unsigned t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        ++recording;
        while (!stop) {
          if (auto* log = thread_log()) log->put(RawKind::mpi_leave, now());
        }
      });
    }
    while (recording < kThreads) std::this_thread::yield();
    thread_log()->put(RawKind::mpi_leave, now());
    collector::lifecycle::end();
    const bool over = thread_log() == nullptr;
    stop = true;
    for (std::thread& thread : threads) thread.join();
    return over ? 0 : 1;
  });
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  const RawRun run = experiment.read_one();
  EXPECT_EQ(run.process.ended, 1u);
  EXPECT_GT(run.count(RawKind::mpi_leave), 0u);
}

}  // namespace
}  // namespace culprit::tests
