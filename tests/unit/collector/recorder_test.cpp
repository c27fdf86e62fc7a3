// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The recorder as a probe sees it, and what it leaves behind however the process ends.
#include "collector/process/recorder.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <fstream>
#include <thread>

#include "child.h"
#include "collector/process/lifecycle.h"

namespace culprit::tests {
namespace {

using collector::activate;
using collector::now;
using collector::PathId;
using collector::StringId;
using collector::thread_log;
using collector::ThreadLog;
using trace::RawKind;
using trace::RawSlot;

bool ended_with(int status, int code) {
  return WIFEXITED(status) && WEXITSTATUS(status) == code;
}

TEST(Recorder, RecordsComeBackAsWritten) {
  Experiment experiment;
  const int status = experiment.run([] {
    if (!activate()) return 1;
    ThreadLog* log = thread_log();
    log->put(RawKind::mpi_leave, now(), 7);
    log->put(RawKind::mpi_isend_done, now(), 0, 0, 11);
    log->put(RawKind::mpi_send, now(), 0, 3, 21, 22);
    log->put(RawKind::mpi_isend, now(), 0, 3, 31, 32, 33);
    log->put(RawKind::mpi_icoll, now(), 5, 3, 41, 42, 43, 44);
    const uint64_t words[] = {1, 2, 3, 4, 5, 6};
    log->put_words(RawKind::mpi_comm_def, now(), 1, 9, words, 6);
    return 0;
  });
  ASSERT_TRUE(ended_with(status, 0));
  const RawRun run = experiment.read_one();
  const RawThread& thread = run.threads.at(0);
  ASSERT_GE(thread.records.size(), 7u);
  EXPECT_EQ(thread.records[0].header.flags, 7);
  EXPECT_EQ(thread.records[1].words, (std::vector<uint64_t>{11}));
  EXPECT_EQ(thread.records[2].words, (std::vector<uint64_t>{21, 22}));
  EXPECT_EQ(thread.records[3].words, (std::vector<uint64_t>{31, 32, 33}));
  EXPECT_EQ(thread.records[4].words, (std::vector<uint64_t>{41, 42, 43, 44}));
  EXPECT_EQ(thread.records[5].words, (std::vector<uint64_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(thread.records[5].header.arg, 9u);
  // Then, where the system tells, its CPU time.
  for (size_t i = 6; i + 1 < thread.records.size(); ++i) {
    EXPECT_EQ(trace::facts_of(thread.records[i].kind()).group, trace::RawGroup::measurement);
  }
  EXPECT_EQ(thread.records.back().kind(), RawKind::process_end);
}

TEST(Recorder, TellsAboutTheProcess) {
  Experiment experiment;
  experiment.run([] { return activate() ? 0 : 1; });
  const trace::RawProcess process = experiment.read_one().process;
  EXPECT_EQ(process.version, trace::kRawVersion);
  EXPECT_EQ(process.ended, 1u);
  EXPECT_EQ(process.world_rank, -1);
  EXPECT_GT(process.event_cost_ps, 0u);
  EXPECT_GT(process.path_cost_ps, 0u);
  EXPECT_GE(process.end_ticks, process.start_ticks);
  EXPECT_GE(process.last.ticks, process.first.ticks);
  EXPECT_GT(process.first.realtime_ns, 0u);
  EXPECT_EQ(std::filesystem::path(process.executable),
            std::filesystem::read_symlink("/proc/self/exe"));
  EXPECT_NE(std::string(process.command).find("collector_test"), std::string::npos);
  EXPECT_NE(std::string(process.host), "");
  EXPECT_EQ(std::string(process.boot_id).size(), 36u);
}

TEST(Recorder, TellsTheJob) {
  Experiment slurm;
  slurm.run([] { return activate() ? 0 : 1; }, {{"SLURM_JOB_ID", "17"}, {"SLURM_STEP_ID", "3"}});
  EXPECT_STREQ(slurm.read_one().process.job, "17.3");
  Experiment pmix;
  const std::string longer(100, 'n');
  pmix.run([] { return activate() ? 0 : 1; },
           {{"PMIX_NAMESPACE", longer}, {"SLURM_JOB_ID", "17"}, {"SLURM_STEP_ID", "3"}});
  EXPECT_EQ(std::string(pmix.read_one().process.job), longer.substr(0, 63));
}

TEST(Recorder, NamesAreDefinedOnce) {
  Experiment experiment;
  experiment.run([] {
    static const char* const kSend = "MPI_Send";
    static const char* const kOdd = "abcdefgh";  // fills its word: no zero behind it
    if (!activate()) return 1;
    ThreadLog* log = thread_log();
    const StringId send = log->name(kSend);
    const StringId odd = log->name(kOdd);
    return log->name(kSend) == send && log->name(kOdd) == odd && send != odd ? 0 : 1;
  });
  const RawRun run = experiment.read_one();
  EXPECT_EQ(run.count(RawKind::string_def), 2u);
  EXPECT_EQ(run.threads.at(0).string(1), "MPI_Send");
  EXPECT_EQ(run.threads.at(0).string(2), "abcdefgh");
}

// Sizes that do not divide the window, so that its end is met in every way.
TEST(Recorder, CrossesWindows) {
  Experiment experiment;
  constexpr unsigned kRecords = 20000;
  const int status = experiment.run([] {
    if (!activate()) return 1;
    ThreadLog* log = thread_log();
    uint64_t words[255];
    for (unsigned i = 0; i < kRecords; ++i) {
      const unsigned count = (i * 37) % 256;
      for (unsigned k = 0; k < count; ++k) words[k] = i * 1000 + k;
      if (!log->put_words(RawKind::mpi_comm_def, now(), 0, i, words, count)) return 2;
    }
    return 0;
  });
  ASSERT_TRUE(ended_with(status, 0));
  const RawRun run = experiment.read_one();
  const auto records = run.threads.at(0).of(RawKind::mpi_comm_def);
  ASSERT_EQ(records.size(), kRecords);
  for (unsigned i = 0; i < kRecords; ++i) {
    ASSERT_EQ(records[i]->header.arg, i);
    ASSERT_EQ(records[i]->words.size(), (i * 37) % 256);
    for (size_t k = 0; k < records[i]->words.size(); ++k) {
      ASSERT_EQ(records[i]->words[k], i * 1000 + k);
    }
  }
  EXPECT_GT(run.threads.at(0).pads, 10u);
  EXPECT_EQ(run.threads.at(0).count(RawKind::tool_begin),
            run.threads.at(0).count(RawKind::tool_end));
  EXPECT_GT(run.threads.at(0).count(RawKind::tool_begin), 10u);
  EXPECT_EQ(run.process.dropped_records, 0u);
}

TEST(Recorder, TimesNeverDecrease) {
  Experiment experiment;
  experiment.run([] {
    if (!activate()) return 1;
    const uint64_t early = now();
    ThreadLog* log = thread_log();
    log->put(RawKind::mpi_leave, now());
    log->put(RawKind::mpi_leave, early);
    return 0;
  });
  EXPECT_EQ(experiment.read_one().count(RawKind::mpi_leave), 2u);  // read() checks the times
}

TEST(Recorder, NewestRecordGrowsInPlace) {
  Experiment experiment;
  const int status = experiment.run([] {
    if (!activate()) return 1;
    ThreadLog* log = thread_log();
    if (log->put_test(now(), 4, 1)) return 2;
    log->put(RawKind::mpi_tests, now(), 4, 0, 1, 1, 1);
    if (log->put_test(now(), 5, 1)) return 3;
    for (int i = 0; i < 9; ++i) {
      if (!log->put_test(now(), 4, 1)) return 4;
    }
    log->put(RawKind::mpi_leave, now());
    return log->put_test(now(), 4, 1) || log->put_test_of(PathId{7}, now(), 4, 1) ? 5 : 0;
  });
  ASSERT_TRUE(ended_with(status, 0)) << status;
  const RawRun run = experiment.read_one();
  EXPECT_EQ(run.threads.at(0).of(RawKind::mpi_tests).at(0)->words[1], 10u);
}

TEST(Recorder, SleepsKeepTheirBeginWhateverCameMeanwhile) {
  Experiment experiment;
  const int status = experiment.run([] {
    if (!activate()) return 1;
    ThreadLog* log = thread_log();
    const PathId here = log->current_path();
    log->put(RawKind::mpi_leave, 1000 + now());  // later than all that follows
    log->put_blocked(100, 200, StringId::none, here);
    log->put_blocked(100, 200, StringId::none, here, 77);
    log->put_blocked(now() + 1'000'000'000, 1, StringId::none, here, 77);
    return 0;
  });
  ASSERT_TRUE(ended_with(status, 0)) << status;
  const RawRun run = experiment.read_one();
  const auto records = run.threads.at(0).of(RawKind::blocked);
  ASSERT_EQ(records.size(), 3u);
  EXPECT_EQ(records[0]->words, (std::vector<uint64_t>{200, 0, 100}));
  EXPECT_EQ(records[1]->words, (std::vector<uint64_t>{200, 77, 100}));
  EXPECT_EQ(records[2]->words, (std::vector<uint64_t>{1, 77}));
}

TEST(Recorder, TestsByFunctionsInTurnAreOneRecord) {
  Experiment experiment;
  const int status = experiment.run([] {
    if (!activate()) return 1;
    ThreadLog* log = thread_log();
    log->put(RawKind::mpi_tests, now(), 4, 0, 1, 1, 1);
    if (!log->put_test_of(PathId{9}, now(), 5, 10)) return 2;
    for (int i = 0; i < 4; ++i) {
      if (!log->put_test(now(), 4, 1) || !log->put_test(now(), 5, 10)) return 3;
    }
    if (!log->put_test_of(PathId{8}, now(), 6, 100)) return 4;
    if (!log->put_test_of(PathId{7}, now(), 7, 1000)) return 5;
    if (log->put_test_of(PathId{6}, now(), 8, 1)) return 6;  // there is room for three others
    if (!log->put_test(123, 7, 1000)) return 7;
    log->put(RawKind::mpi_leave, now());
    return 0;
  });
  ASSERT_TRUE(ended_with(status, 0)) << status;
  const RawRun run = experiment.read_one();
  const std::vector<uint64_t> other = {
      123, 13, 2155, 9ull << 32 | 5, 50, 8ull << 32 | 6, 100, 7ull << 32 | 7, 2000};
  EXPECT_EQ(run.threads.at(0).of(RawKind::mpi_tests).at(0)->words, other);
}

TEST(Recorder, AWindowsEndDoesNotHarmTestsInTurn) {
  Experiment experiment;
  const int status = experiment.run([] {
    if (!activate()) return 1;
    ThreadLog* log = thread_log();
    for (uint16_t i = 0; i < 60000; ++i) {
      const uint64_t at = now();
      if (log->put_test_of(PathId{2}, at, 5, 1)) continue;
      log->put(RawKind::mpi_tests, at, 4, 0, at, 1, 1);
    }
    return 0;
  });
  ASSERT_TRUE(ended_with(status, 0)) << status;
  const RawRun run = experiment.read_one();  // checks each window's sum
  EXPECT_EQ(run.process.dropped_records, 0u);
  uint64_t tests = 0;
  for (const auto* record : run.threads.at(0).of(RawKind::mpi_tests)) tests += record->words[1];
  EXPECT_EQ(tests, 60000u);
}

TEST(Recorder, KilledProcessLeavesItsRecords) {
  Experiment experiment;
  const int status = experiment.run([] {
    if (!activate()) return 1;
    for (unsigned i = 0; i < 100000; ++i) thread_log()->put(RawKind::mpi_send, now(), 0, i, i, i);
    raise(SIGKILL);
    return 0;
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  const RawRun run = experiment.read_one();
  EXPECT_EQ(run.count(RawKind::mpi_send), 100000u);
  EXPECT_EQ(run.process.ended, 0u);
  EXPECT_EQ(run.count(RawKind::process_end), 0u);
}

/// What the loading thread of a process was in at last.
trace::RawOpen open_of(const RawRun& run, trace::RawSlot slot) {
  std::ifstream file(run.folder / "events.0.tail", std::ios::binary);
  trace::RawTail tail{};
  file.seekg(-static_cast<std::streamoff>(sizeof tail), std::ios::end);
  file.read(reinterpret_cast<char*>(&tail), sizeof tail);
  EXPECT_TRUE(file);
  return tail.open[static_cast<unsigned>(slot)];
}

TEST(Recorder, WhatAThreadIsInSurvivesItsDeath) {
  Experiment experiment;
  experiment.run([] {
    if (!activate()) return 1;
    ThreadLog& log = *thread_log();
    const uint64_t handles[] = {7, 8, 9};
    const trace::raw::mpi_awaits awaits{.object = 3, .what = trace::RawAwaits::all_requests};
    log.put(RawKind::mpi_enter, now());
    log.open(RawSlot::wait, 1, awaits, handles, 1);
    log.close(RawSlot::wait);
    log.open(RawSlot::call, 2, awaits);
    log.open(RawSlot::call, 3, awaits, handles, 3);
    raise(SIGKILL);
    return 0;
  });
  const RawRun run = experiment.read_one();
  const trace::RawOpen call = open_of(run, RawSlot::call);
  EXPECT_EQ(call.header.kind, RawKind::mpi_awaits);
  EXPECT_EQ(call.header.time, 3u);
  EXPECT_EQ(call.header.arg, 3u);
  ASSERT_EQ(call.header.words, 3u);
  EXPECT_EQ(call.words[2], 9u);
  EXPECT_EQ(open_of(run, RawSlot::wait).header.kind, RawKind::none) << "it is over";
}

TEST(Recorder, MoreThanASlotHoldsIsLeftOut) {
  Experiment experiment;
  experiment.run([] {
    if (!activate()) return 1;
    ThreadLog& log = *thread_log();
    uint64_t words[trace::kRawOpenWords + 1] = {};
    log.put(RawKind::mpi_enter, now());
    log.open(RawSlot::call, 2, trace::raw::mpi_awaits{}, words, trace::kRawOpenWords + 1);
    raise(SIGKILL);
    return 0;
  });
  const RawRun run = experiment.read_one();
  EXPECT_EQ(open_of(run, RawSlot::call).header.words, trace::kRawOpenWords);
  EXPECT_EQ(open_of(run, RawSlot::wait).header.kind, RawKind::none);
}

TEST(Recorder, StaysInertUnlessWanted) {
  Experiment experiment;
  const int no_activation = experiment.run([] { return thread_log() == nullptr ? 0 : 1; });
  EXPECT_TRUE(ended_with(no_activation, 0));
  const int disabled = experiment.run([] { return activate() || thread_log() != nullptr ? 1 : 0; },
                                      {{"CULPRIT_DISABLE", "1"}});
  EXPECT_TRUE(ended_with(disabled, 0));
  const int relative =
      experiment.run([] { return activate() ? 1 : 0; }, {{"CULPRIT_EXPERIMENT", "not/absolute"}});
  EXPECT_TRUE(ended_with(relative, 0));
  const int unwritable = experiment.run([] { return activate() ? 1 : 0; },
                                        {{"CULPRIT_EXPERIMENT", "/proc/no/such/place"}});
  EXPECT_TRUE(ended_with(unwritable, 0));
  EXPECT_TRUE(std::filesystem::is_empty(experiment.folder()));
}

TEST(Recorder, EachThreadHasItsFile) {
  Experiment experiment;
  constexpr unsigned kThreads = 20;
  experiment.run([] {
    if (!activate()) return 1;
    std::vector<std::thread> threads;
    for (unsigned t = 1; t <= kThreads; ++t) {
      threads.emplace_back([t] {
        for (unsigned i = 0; i < 1000; ++i) thread_log()->put(RawKind::mpi_send, now(), 0, t, i, t);
      });
    }
    for (std::thread& thread : threads) thread.join();
    return 0;
  });
  const RawRun run = experiment.read_one();
  EXPECT_EQ(run.process.thread_count, kThreads + 1);
  EXPECT_EQ(run.count(RawKind::mpi_send), kThreads * 1000);
  for (unsigned n = 1; n <= kThreads; ++n) {
    const std::vector<RawRecord>& records = run.threads.at(n).records;
    ASSERT_GE(records.size(), 1001u);
    EXPECT_EQ(records[0].header.kind, RawKind::thread_id);
    std::vector<uint32_t> senders;
    for (const RawRecord& record : records) {
      if (record.header.kind == RawKind::mpi_send) senders.push_back(record.header.arg);
    }
    ASSERT_EQ(senders.size(), 1000u);
    EXPECT_EQ(std::count(senders.begin(), senders.end(), senders[0]), 1000);
    // A thread that ended gave back what it did not use, and the rest is packed.
    const std::string file = run.folder / ("events." + std::to_string(n));
    EXPECT_LT(std::filesystem::file_size(file + ".packed"), records.size() * 32 / 2);
    EXPECT_FALSE(std::filesystem::exists(file + ".tail"));
  }
}

void record_late(void*) {
  if (ThreadLog* log = thread_log()) log->put(RawKind::mpi_leave, now());
}

// Runtimes report a thread's end from destructors of thread-specific data, ours or theirs first.
TEST(Recorder, LateEventsOfEndingThreadsAreHarmless) {
  Experiment experiment;
  const int status = experiment.run([] {
    pthread_key_t before, after;
    pthread_key_create(&before, record_late);
    if (!activate()) return 1;
    pthread_key_create(&after, record_late);
    std::thread([&] {
      thread_log()->put(RawKind::mpi_leave, now());
      pthread_setspecific(before, &before);
      pthread_setspecific(after, &after);
    }).join();
    return 0;
  });
  ASSERT_TRUE(ended_with(status, 0));
  EXPECT_EQ(experiment.read_one().count(RawKind::mpi_leave), 3u);
}

/// Records, forks, and lets the child's only thread end as threads do, with its destructors: they
/// must not cut the parent's file.
void* record_around_fork(void* failures) {
  thread_log()->put(RawKind::mpi_leave, now());
  const pid_t child = fork();
  if (child == 0) {
    if (thread_log() != nullptr || collector::process() != nullptr) _exit(1);
    collector::checkpoint();
    return nullptr;  // its last thread: exit(0)
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (!ended_with(status, 0)) ++*static_cast<int*>(failures);
  for (int i = 0; i < 1000; ++i) thread_log()->put(RawKind::mpi_leave, now());
  return nullptr;
}

TEST(Recorder, ForkedChildIsInert) {
  Experiment experiment;
  const int status = experiment.run([] {
    if (!activate()) return 1;
    int failures = 0;
    pthread_t thread;
    pthread_create(&thread, nullptr, record_around_fork, &failures);
    pthread_join(thread, nullptr);
    return failures;
  });
  ASSERT_TRUE(ended_with(status, 0)) << status;
  const RawRun run = experiment.read_one();
  EXPECT_EQ(run.count(RawKind::mpi_leave), 1001u);
  EXPECT_EQ(run.process.ended, 1u);
}

TEST(Recorder, ChildForkedBeforeRecordingMayRecordItself) {
  Experiment experiment;
  const int status = experiment.run([] {
    collector::lifecycle::load();
    const pid_t child = fork();
    if (child == 0) {
      if (thread_log() != nullptr || !activate()) _exit(1);
      thread_log()->put(RawKind::mpi_leave, now());
      collector::lifecycle::end();
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return ended_with(status, 0) && thread_log() == nullptr ? 0 : 1;
  });
  ASSERT_TRUE(ended_with(status, 0)) << status;
  const RawRun run = experiment.read_one();
  EXPECT_EQ(run.count(RawKind::mpi_leave), 1u);
  EXPECT_EQ(run.process.ended, 1u);
}

TEST(Recorder, FullDiskDropsAndCounts) {
  Experiment experiment;
  constexpr unsigned kRecords = 100000;
  const int status = experiment.run([] {
    if (!activate()) return 1;
    constexpr rlim_t kMost = 2 * trace::kRawWindow + trace::kRawWindow / 16;
    const rlimit limit = {kMost, kMost};
    setrlimit(RLIMIT_FSIZE, &limit);
    for (uint64_t i = 0, word = 1; i < kRecords; ++i) {
      word *= 0xd6e8feb86659fd93u;  // packing saves next to nothing
      thread_log()->put(RawKind::mpi_send, now(), 0, static_cast<uint32_t>(word), word, ~word);
    }
    return 0;
  });
  ASSERT_TRUE(ended_with(status, 0)) << status;
  const RawRun run = experiment.read_one();
  const size_t kept = run.count(RawKind::mpi_send);
  EXPECT_GT(kept, 60000u);
  EXPECT_LT(kept, kRecords);
  // What the thread has used, of cores and of CPU time, and the end of the process found no room
  // either.
  EXPECT_GE(kept + run.process.dropped_records, kRecords + 2);
  EXPECT_LE(kept + run.process.dropped_records, kRecords + 5);
  EXPECT_EQ(run.process.ended, 1u);
}

TEST(Recorder, ManyThreadsHaveSmallerWindows) {
  constexpr unsigned kThreads = 40;
  constexpr unsigned kRecords = 10000;
  Experiment experiment;
  const int status = experiment.run(
      [] {
        if (!activate()) return 1;
        std::atomic<unsigned> ready{0};
        for (unsigned i = 0; i < kThreads; ++i) {
          std::thread([&ready] {
            for (unsigned k = 0; k < kRecords; ++k)
              thread_log()->put(RawKind::mpi_leave, now(), 0, k);
            ++ready;
            while (true) pause();
          }).detach();
        }
        while (ready < kThreads) usleep(1000);
        raise(SIGKILL);
        return 1;
      },
      {{"CULPRIT_MEMORY", "4"}});
  ASSERT_TRUE(WIFSIGNALED(status)) << status;
  size_t windows = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(experiment.folder())) {
    if (entry.path().extension() == ".tail") windows += entry.file_size();
  }
  EXPECT_LT(windows, 4 * trace::kRawWindow);
  const RawRun run = experiment.read_one();
  ASSERT_EQ(run.threads.size(), kThreads);
  for (const auto& [number, thread] : run.threads) {
    const auto records = thread.of(RawKind::mpi_leave);
    ASSERT_EQ(records.size(), kRecords);
    for (unsigned k = 0; k < kRecords; ++k) ASSERT_EQ(records[k]->header.arg, k);
  }
}

void limit_files(rlim_t bytes) {
  rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = std::min(bytes, limit.rlim_max);
  setrlimit(RLIMIT_FSIZE, &limit);
}

TEST(Recorder, AThreadThatRecordsLittleTakesLittleRoom) {
  Experiment experiment;
  experiment.run([] {
    if (!activate()) return 1;
    for (unsigned i = 0; i < 10; ++i) thread_log()->put(RawKind::mpi_leave, now(), 0, i);
    raise(SIGKILL);
    return 1;
  });
  const RawRun run = experiment.read_one();
  EXPECT_EQ(run.count(RawKind::mpi_leave), 10u);
  struct stat tail = {};
  ASSERT_EQ(stat((run.folder / "events.0.tail").c_str(), &tail), 0);
  constexpr blkcnt_t kBlock = 512;
  EXPECT_LE(tail.st_blocks * kBlock, 64 << 10);
  EXPECT_FALSE(std::filesystem::exists(run.folder / "events.0.packed"));
}

TEST(Recorder, WindowsAreSmallWhereTheDiskHasNoRoomForWholeOnes) {
  constexpr unsigned kRecords = 3000;
  Experiment experiment;
  const int status = experiment.run([] {
    if (!activate()) return 1;
    thread_log()->put(RawKind::mpi_leave, now());
    limit_files(trace::kRawWindow / 32);
    for (unsigned i = 0; i < kRecords; ++i) thread_log()->put(RawKind::mpi_send, now(), 0, i, i, i);
    return 0;
  });
  ASSERT_TRUE(ended_with(status, 0)) << status;
  const RawRun run = experiment.read_one();
  EXPECT_EQ(run.process.dropped_records, 0u);
  const auto records = run.threads.at(0).of(RawKind::mpi_send);
  ASSERT_EQ(records.size(), kRecords);
  for (unsigned i = 0; i < kRecords; ++i) ASSERT_EQ(records[i]->header.arg, i);
}

TEST(Recorder, RecordsAgainOnceTheDiskHasRoom) {
  Experiment experiment;
  const int status = experiment.run([] {
    if (!activate()) return 1;
    limit_files(2 * trace::kRawWindow);
    uint64_t word = 0;
    const auto put = [&] {
      return thread_log()->put_words(RawKind::mpi_isend_done, now(), 0, 0, &++word, 1);
    };
    while (put()) {
    }
    limit_files(RLIM_INFINITY);
    alarm(60);  // tries are seconds apart
    while (!put()) usleep(1000);
    return 0;
  });
  ASSERT_TRUE(ended_with(status, 0)) << status;
  const RawRun run = experiment.read_one();
  const auto records = run.threads.at(0).of(RawKind::mpi_isend_done);
  EXPECT_GT(run.process.dropped_records, 0u);
  EXPECT_EQ(records.back()->words[0], records.size() + run.process.dropped_records);
  EXPECT_EQ(run.count(RawKind::process_end), 1u);
}

}  // namespace
}  // namespace culprit::tests
