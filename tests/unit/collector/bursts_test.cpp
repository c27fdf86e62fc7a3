// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What is kept of runs that exceed their budget for records. Slots of time are short here, so that
// some seconds have many bursts.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "burst_files.h"
#include "child.h"
#include "collector/process/recorder.h"
#include "collector/process/selection.h"

namespace culprit::tests {
namespace {

using collector::activate;
using collector::now;
using collector::thread_log;
using collector::ThreadLog;
using trace::RawKind;

bool ended_with(int status, int code) {
  return WIFEXITED(status) && WEXITSTATUS(status) == code;
}

double seconds() {
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// Puts numbered records, some ten thousands a second, until the time is over: messages of as many
/// bytes, all on one channel.
void record_for(double lasting) {
  uint64_t number = 0;
  for (const double end = seconds() + lasting; seconds() < end; usleep(1000)) {
    for (unsigned i = 0; i < 100; ++i) {
      thread_log()->put(now(), trace::raw::mpi_send{.bytes = ++number});
    }
  }
}

/// The numbers of the records are without gaps.
void expect_no_gaps(const std::vector<RawRecord>& records) {
  std::vector<uint64_t> numbers;
  for (const RawRecord& record : records) {
    if (record.kind() != RawKind::mpi_send) continue;
    numbers.push_back(record.as<trace::raw::mpi_send>().bytes);
  }
  for (size_t i = 1; i < numbers.size(); ++i) ASSERT_EQ(numbers[i], numbers[i - 1] + 1);
}

std::vector<RawRecord> records_of(const RawRun& run, unsigned log) {
  const auto found = run.threads.find(log);
  return found == run.threads.end() ? std::vector<RawRecord>() : found->second.records;
}

/// How many logs each burst has, for a failure's message.
std::string described(const NodeFiles& node) {
  std::string text = "length " + std::to_string(node.page.length_ns) + ", taken " +
                     std::to_string(node.page.taken) + ", refused " +
                     std::to_string(node.page.refused) + ", level " +
                     std::to_string(node.page.level) + ", most " + std::to_string(node.page.most) +
                     ", logs and lost extents of bursts:";
  for (const BurstOfNode& burst : node.bursts) {
    text += ' ' + std::to_string(burst.logs.size()) + '-' + std::to_string(burst.entry.lost);
  }
  return text;
}

/// Half of it is for files of constant size.
const std::map<std::string, std::string> kShortSlots = {{"CULPRIT_BUDGET", "4M"},
                                                        {"CULPRIT_SLOT", "64"}};

TEST(Bursts, ShortRunIsRecordedWhole) {
  Experiment experiment;
  const int status = experiment.run([] { return activate() ? record_for(0.2), 0 : 1; });
  ASSERT_TRUE(ended_with(status, 0)) << status;
  const NodeFiles node = read_node(experiment.folder());
  EXPECT_EQ(node.page.whole_end, 0u);
  EXPECT_TRUE(node.bursts.empty());
  const RawRun run = experiment.read_one();
  expect_no_gaps(records_of(run, 0));
  EXPECT_EQ(records_of(run, 0).back().kind(), RawKind::process_end);
  EXPECT_EQ(run.process.whole_end, 0u);
}

TEST(Bursts, LongRunKeepsItsBeginAndBurstsWithinTheBudget) {
  Experiment experiment;
  const int status = experiment.run([] { return activate() ? record_for(4), 0 : 1; }, kShortSlots);
  ASSERT_TRUE(ended_with(status, 0)) << status;
  EXPECT_LE(bytes_of_records(experiment.folder()), uint64_t{2} << 20);
  const RawRun run = experiment.read_one();
  const NodeFiles node = read_node(experiment.folder());
  EXPECT_GT(run.process.whole_end, run.process.start_ticks);
  EXPECT_EQ(run.process.whole_end, node.page.whole_end);
  EXPECT_EQ(run.process.dropped_records, 0u);
  // The whole part.
  const std::vector<RawRecord> whole = records_of(run, 0);
  expect_no_gaps(whole);
  EXPECT_GT(whole.size(), 10000u);
  // The bursts.
  EXPECT_GE(node.bursts.size(), 2u);
  EXPECT_LE(node.bursts.size(), node.page.most + 1);
  size_t complete = 0;
  for (const BurstOfNode& burst : node.bursts) {
    EXPECT_GT(burst.entry.begin, node.page.whole_end);
    ASSERT_EQ(burst.logs.size(), 1u);
    const LogOfBurst& log = burst.logs.begin()->second;
    ASSERT_FALSE(log.preamble.empty());
    EXPECT_EQ(log.preamble.back().kind(), RawKind::carried);
    EXPECT_EQ(log.from, burst.entry.begin);
    if (log.until == burst.entry.end) ++complete;
    expect_no_gaps(log.records);
  }
  EXPECT_GE(complete + 1, node.bursts.size());
}

/// The whole part ends with the last window that could be written; nothing of it is missing, and
/// the profile goes on.
TEST(Bursts, AFullDiskEndsTheWholePart) {
  Experiment experiment;
  const int status = experiment.run([] {
    if (!activate()) return 1;
    constexpr unsigned kRecords = 100000;
    uint64_t number = 0;
    const auto record = [&] {
      for (unsigned i = 0; i < kRecords; ++i) {
        thread_log()->put(now(), trace::raw::mpi_send{.bytes = ++number});
      }
    };
    record();
    rlimit limit = {};
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = trace::kRawWindow / 8 * 5;  // packed, these records take some 5 bytes each
    setrlimit(RLIMIT_FSIZE, &limit);
    record();
    record();
    return 0;
  });
  ASSERT_TRUE(ended_with(status, 0)) << status;
  const RawRun run = experiment.read_one();
  EXPECT_EQ(run.process.dropped_records, 0u);
  const NodeFiles node = read_node(experiment.folder());
  EXPECT_GT(node.page.disk_full, 0u);
  EXPECT_GT(run.process.whole_end, run.process.start_ticks);
  EXPECT_EQ(run.process.whole_end, node.page.whole_end);
  const std::vector<RawRecord> whole = records_of(run, 0);
  expect_no_gaps(whole);
  ASSERT_FALSE(whole.empty());
  EXPECT_GT(whole.size(), 100000u);
  EXPECT_LT(whole.size(), 300000u);
  EXPECT_LE(whole.back().header.time, run.process.whole_end);
}

TEST(Bursts, BudgetOfZeroKeepsNoRecords) {
  Experiment experiment;
  const int status = experiment.run(
      [] {
        if (!activate()) return 1;
        thread_log()->name("a name");
        record_for(1);
        return 0;
      },
      {{"CULPRIT_BUDGET", "0"}, {"CULPRIT_SLOT", "64"}});
  ASSERT_TRUE(ended_with(status, 0)) << status;
  const RawRun run = experiment.read_one();
  EXPECT_TRUE(run.threads.empty());
  EXPECT_TRUE(read_node(experiment.folder()).bursts.empty());
  std::set<RawKind> kinds;
  for (const RawRecord& record : read_definitions(run.folder, 0)) kinds.insert(record.kind());
  EXPECT_EQ(kinds, (std::set{RawKind::string_def, RawKind::process_end}));
}

/// A budget that has no room for the windows of all threads keeps nothing of some, and is not
/// exceeded.
TEST(Bursts, TinyBudgetsAreNotExceeded) {
  for (const unsigned kib : {40, 200, 500}) {
    Experiment experiment;
    const int status = experiment.run(
        [] {
          if (!activate()) return 1;
          std::vector<std::thread> threads;
          for (unsigned i = 0; i < 4; ++i) threads.emplace_back([] { record_for(0.5); });
          for (std::thread& thread : threads) thread.join();
          return 0;
        },
        {{"CULPRIT_BUDGET", std::to_string(kib) + "K"}, {"CULPRIT_SLOT", "64"}});
    ASSERT_TRUE(ended_with(status, 0)) << status;
    EXPECT_LE(bytes_of_records(experiment.folder()), uint64_t{kib} << 10);
    EXPECT_NE(experiment.read_one().process.whole_end, 0u);
  }
}

TEST(Bursts, DefinitionsAreKeptForEver) {
  static const char* const kNames[] = {"first", "second", "third", "fourth", "fifth"};
  Experiment experiment;
  const int status = experiment.run(
      [] {
        if (!activate()) return 1;
        for (const char* name : kNames) {
          thread_log()->name(name);
          record_for(0.6);
        }
        return 0;
      },
      {{"CULPRIT_BUDGET", "1M"}, {"CULPRIT_SLOT", "64"}});
  ASSERT_TRUE(ended_with(status, 0)) << status;
  const RawRun run = experiment.read_one();
  std::vector<RawRecord> definitions = records_of(run, 0);
  for (RawRecord& record : read_definitions(run.folder, 0)) definitions.push_back(record);
  std::vector<std::string> names;
  for (const RawRecord& record : definitions) {
    if (record.kind() != RawKind::string_def) continue;
    names.emplace_back(reinterpret_cast<const char*>(record.words.data()), record.header.flags);
  }
  EXPECT_EQ(names, std::vector<std::string>(std::begin(kNames), std::end(kNames)));
}

TEST(Bursts, ThreadsAndProcessesHaveTheSameBursts) {
  constexpr unsigned kThreads = 3;
  Experiment experiment;
  const auto body = [] {
    if (!activate()) return 1;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < kThreads; ++i) threads.emplace_back([] { record_for(4); });
    for (std::thread& thread : threads) thread.join();
    return 0;
  };
  const pid_t other = fork();
  if (other == 0) _exit(ended_with(experiment.run(body, kShortSlots), 0) ? 0 : 1);
  const int status = experiment.run(body, kShortSlots);
  int other_status = 0;
  waitpid(other, &other_status, 0);
  ASSERT_TRUE(ended_with(status, 0) && ended_with(other_status, 0));
  EXPECT_LE(bytes_of_records(experiment.folder()), uint64_t{2} << 20);
  const NodeFiles node = read_node(experiment.folder());
  EXPECT_EQ(node.page.processes, 2u);
  ASSERT_FALSE(node.bursts.empty());
  size_t shared = 0;
  for (const BurstOfNode& burst : node.bursts) {
    if (burst.entry.lost != 0) continue;
    if (burst.logs.size() == 2 * kThreads) ++shared;
    for (const auto& [who, log] : burst.logs) expect_no_gaps(log.records);
  }
  EXPECT_GT(shared, 0u) << described(node);
}

/// A thread that says nothing for longer than several bursts has them all the same.
TEST(Bursts, SilentThreadOwesItsStates) {
  Experiment experiment;
  const int status = experiment.run(
      [] {
        if (!activate()) return 1;
        std::thread silent([] {
          thread_log()->put(RawKind::mpi_enter, now(), 1, 0);
          usleep(3'000'000);
          thread_log()->put(RawKind::mpi_leave, now(), 1);
        });
        record_for(3);
        silent.join();
        return 0;
      },
      kShortSlots);
  ASSERT_TRUE(ended_with(status, 0)) << status;
  const NodeFiles node = read_node(experiment.folder());
  ASSERT_GT(node.bursts.size(), 2u);
  size_t inside = 0;
  for (const BurstOfNode& burst : node.bursts) {
    for (const auto& [who, log] : burst.logs) {
      for (const RawRecord& record : log.preamble) {
        inside += record.kind() == RawKind::mpi_enter ? 1 : 0;
      }
    }
  }
  EXPECT_GT(inside, 1u);
}

/// However it is killed, what a reader finds is whole, and within the budget.
TEST(Bursts, KilledProcessLeavesWholeExtents) {
  for (const useconds_t after : {600'000u, 1'100'000u, 1'700'000u}) {
    Experiment experiment;
    const pid_t child = fork();
    if (child == 0)
      _exit(experiment.run(
          [after] {
            if (!activate()) return 1;
            std::thread([after] {
              usleep(after);
              raise(SIGKILL);
            }).detach();
            record_for(5);
            return 0;
          },
          kShortSlots));
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_LE(bytes_of_records(experiment.folder()), uint64_t{2} << 20);
    const NodeFiles node = read_node(experiment.folder(), /*killed=*/true);
    for (const BurstOfNode& burst : node.bursts) {
      for (const auto& [who, log] : burst.logs) expect_no_gaps(log.records);
    }
  }
}

/// A program that does nothing but record exceeds any limit: less is recorded then, and it is said.
TEST(Bursts, LessIsRecordedBeyondTheLimitOfOverhead) {
  Experiment experiment;
  const int status = experiment.run(
      [] {
        if (!activate()) return 1;
        const bool wanted = collector::tests_wanted();
        for (const double end = seconds() + 60; collector::tests_wanted() && seconds() < end;) {
          for (unsigned i = 0; i < 1000; ++i) {
            thread_log()->put(now(), trace::raw::mpi_send{});
          }
        }
        return wanted && !collector::tests_wanted() ? 0 : 2;
      },
      {{"CULPRIT_BUDGET", "2M"}, {"CULPRIT_SLOT", "64"}, {"CULPRIT_OVERHEAD", "1"}});
  ASSERT_TRUE(ended_with(status, 0)) << status;
  const trace::RawProcess process = experiment.read_one().process;
  EXPECT_GT(process.largest_overhead, 10'000u);
  EXPECT_EQ(process.thinned & trace::kRawThinnedTests, trace::kRawThinnedTests);
}

}  // namespace
}  // namespace culprit::tests
