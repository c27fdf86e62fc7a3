// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Samples wherever they hurt most: threads that load and unload code, throw through it, allocate
// and fork, all at once, each of them interrupted as often as the kernel does it. Nothing may hang,
// crash or come out wrong, and every record must be whole (read() checks each).
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "child.h"
#include "collector/probes.h"
#include "collector/process/recorder.h"

namespace culprit::tests {
namespace {

using trace::RawKind;
using Clock = std::chrono::steady_clock;

constexpr auto kStorm = std::chrono::milliseconds(2500);
constexpr int kStillRunning = 3;
constexpr unsigned kHangSeconds = 60;

std::atomic<bool> g_wrong{false};

[[gnu::noinline]] int throw_here(int depth) {
  if (depth == 0) throw std::make_unique<int>(depth);
  const std::vector<int> in_the_way(static_cast<size_t>(depth), depth);
  return throw_here(depth - 1) + in_the_way.back();
}

void load_and_throw() {
  void* const plugin = dlopen(CULPRIT_STORM_PLUGIN, RTLD_NOW | RTLD_LOCAL);
  if (plugin == nullptr) {
    g_wrong = true;
    return;
  }
  auto* const thrower = reinterpret_cast<int (*)(int)>(dlsym(plugin, "throw_from_plugin"));
  bool caught = false;
  try {
    thrower(20);
  } catch (int) {
    caught = true;
  }
  if (!caught) g_wrong = true;
  dlclose(plugin);
}

void throw_and_catch() {
  bool caught = false;
  try {
    throw_here(30);
  } catch (const std::unique_ptr<int>&) {
    caught = true;
  }
  if (!caught) g_wrong = true;
}

void allocate() {
  std::vector<std::unique_ptr<char[]>> blocks;
  for (size_t i = 0; i < 200; ++i) blocks.push_back(std::make_unique<char[]>(i * 97 + 1));
}

void fork_and_wait() {
  const pid_t pid = fork();
  if (pid == 0) _exit(0);
  int status = 1;
  if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) g_wrong = true;
}

void storm(void (*deed)()) {
  const auto end = Clock::now() + kStorm;
  while (Clock::now() < end) {
    if (collector::ThreadLog* log = collector::thread_log()) {
      const uint64_t time = collector::now();
      log->put(RawKind::mpi_enter, time, 0, static_cast<uint32_t>(log->current_path()));
    }
    deed();
  }
}

int weather_it() {
  collector::start_probes();
  if (!collector::activate()) return 1;
  alarm(kHangSeconds);
  std::vector<std::thread> threads;
  for (auto* deed : {load_and_throw, throw_and_catch, allocate, fork_and_wait, load_and_throw}) {
    threads.emplace_back(storm, deed);
  }
  for (std::thread& thread : threads) thread.join();
  return g_wrong ? 2 : kStillRunning;
}

TEST(Sampling, SurvivesThreadsThatLoadThrowForkAndAllocate) {
  Experiment experiment;
  const int status = experiment.run(weather_it, {{"CULPRIT_SAMPLING", "4000"}});
  ASSERT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), kStillRunning);
  // A child that takes long to end, on a busy machine, is recorded as well.
  const std::vector<RawRun> runs = experiment.read();
  const auto parent = std::find_if(runs.begin(), runs.end(), [](const RawRun& run) {
    return run.count(RawKind::mpi_enter) > 100;
  });
  ASSERT_NE(parent, runs.end());
  EXPECT_GT(parent->count(RawKind::sample), 20u);
}

}  // namespace
}  // namespace culprit::tests
