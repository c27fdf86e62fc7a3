// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Counters of an OpenMP program, from a source whose values are known and from the system.
#include <gtest/gtest.h>

#include "child.h"

namespace culprit::tests {
namespace {

using trace::RawKind;
namespace fs = std::filesystem;

constexpr size_t kThreads = 3;

/// Runs the program with a copy of the preload library beside which the fake source lies.
RawRun run_counting(const std::string& counters) {
  Experiment experiment;
  const fs::path library = experiment.folder() / "libculprit.so";
  fs::copy_file(CULPRIT_PRELOAD_LIBRARY, library);
  fs::copy_file(CULPRIT_FAKE_COUNTERS, experiment.folder() / "libculprit-papi.so");
  std::string output;
  const int status = experiment.run_program({CULPRIT_GCC_PROGRAM},
                                            {{"LD_PRELOAD", library},
                                             {"CULPRIT_OPENMP_RUNTIME", CULPRIT_LIBOMP},
                                             {"OMP_WAIT_POLICY", "passive"},
                                             {"CULPRIT_COUNTERS", counters}},
                                            &output);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(output, "2497560 30\n");
  return experiment.read_one();
}

/// The two texts of a definition.
std::pair<std::string, std::string> texts_of(const RawRecord& record) {
  const std::string text(reinterpret_cast<const char*>(record.words.data() + 1),
                         record.header.flags);
  const size_t end = text.find('\0');
  return {text.substr(0, end), text.substr(end + 1, text.size() - end - 2)};
}

bool is_border(RawKind kind) {
  return kind == RawKind::omp_parallel_begin || kind == RawKind::omp_parallel_end ||
         kind == RawKind::omp_implicit_begin || kind == RawKind::omp_sync_begin ||
         kind == RawKind::omp_sync_end || kind == RawKind::process_end;
}

TEST(Counters, EachThreadReadsItsOwnBeforeEachBorder) {
  const RawRun run = run_counting("fake::tens,fake::absent,fake::hundreds,fake::tens");
  ASSERT_EQ(run.threads.size(), kThreads);
  EXPECT_EQ(run.count(RawKind::counter_refused), 1u);
  for (const auto& [number, thread] : run.threads) {
    const auto definitions = thread.of(RawKind::counter_def);
    ASSERT_EQ(definitions.size(), 2u);
    EXPECT_EQ(texts_of(*definitions[0]), std::pair(std::string("fake::tens"), std::string()));
    EXPECT_EQ(texts_of(*definitions[1]),
              std::pair(std::string("fake::hundreds"), std::string("pieces")));
    uint64_t readings = 0;
    for (size_t i = 0; i < thread.records.size(); ++i) {
      const RawRecord& record = thread.records[i];
      if (record.kind() != RawKind::counters) continue;
      ++readings;
      EXPECT_EQ(record.words, (std::vector<uint64_t>{10 * readings, 100 * readings}));
      const bool last = i + 1 == thread.records.size();
      EXPECT_TRUE(last || is_border(thread.records[i + 1].kind()));
      EXPECT_TRUE(last || thread.records[i + 1].header.time == record.header.time);
    }
    EXPECT_GT(readings, 10u);
  }
  for (const auto& [number, thread] : run.threads) {
    for (const RawRecord* refused : thread.of(RawKind::counter_refused)) {
      EXPECT_EQ(texts_of(*refused),
                std::pair(std::string("fake::absent"), std::string("the fake has none")));
    }
  }
}

TEST(Counters, ThatFailLaterAreGivenUpAndCounted) {
  const RawRun run = run_counting("fake::stops,fake::tens");
  EXPECT_EQ(run.process.failed_counters, kThreads);
  for (const auto& [number, thread] : run.threads) {
    EXPECT_EQ(thread.count(RawKind::counters), 5u);
  }
}

TEST(Counters, OfTheSystemOnlyGrow) {
  const RawRun run = run_counting("rusage");
  for (const auto& [number, thread] : run.threads) {
    EXPECT_EQ(thread.count(RawKind::counter_def), 7u);
    std::vector<uint64_t> last(7, 0);
    for (const RawRecord* reading : thread.of(RawKind::counters)) {
      ASSERT_EQ(reading->words.size(), last.size());
      for (size_t i = 0; i < last.size(); ++i) EXPECT_GE(reading->words[i], last[i]);
      last = reading->words;
    }
    EXPECT_GT(last[0], 0u);  // nobody runs without a page fault
  }
}

}  // namespace
}  // namespace culprit::tests
