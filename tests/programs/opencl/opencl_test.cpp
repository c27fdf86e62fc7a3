// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// account.c under `culprit run`: what the trace says of its queues must be the program's own
// account, to the nanosecond but for the map between two clocks. Needs an OpenCL device; Debian's
// PoCL makes one of any processor.

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <sstream>

#include "base/losses.h"
#include "trace/otf2/reader.h"

namespace culprit::tests {
namespace {

namespace fs = std::filesystem;

struct Op {
  std::string what;
  int64_t begin = 0;
  int64_t end = 0;
};

/// By queue, as the program counts them: in the order of their making.
using Queues = std::map<int, std::vector<Op>>;

struct Collect : trace::EventSink {
  const trace::Definitions* definitions = nullptr;
  std::vector<Op>* ops = nullptr;
  size_t depth = 0;
  void enter(Time time, RegionId region) override {
    EXPECT_EQ(depth++, 0u);
    std::string name = definitions->regions[region.index()].name;
    std::replace(name.begin(), name.end(), ' ', '_');
    ops->push_back({name, time.nanos(), 0});
  }
  void leave(Time time, RegionId) override {
    --depth;
    ops->back().end = time.nanos();
  }
};

struct HostCalls : trace::EventSink {
  const trace::Definitions* definitions = nullptr;
  std::map<std::string, int> visits;
  void enter(Time, RegionId region) override {
    ++visits[definitions->regions[region.index()].name];
  }
};

class OpenClTest : public testing::Test {
 protected:
  OpenClTest() {
    std::string pattern = (fs::temp_directory_path() / "culprit-opencl.XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~OpenClTest() override { fs::remove_all(folder_); }

  /// Runs account.c and reads both accounts. False if there is no device.
  bool run(const std::string& way) {
    const std::string line = "timeout 60 " CULPRIT_PROGRAM " run --full --otf2 -o " +
                             (folder_ / "e").string() + " -- " CULPRIT_ACCOUNT " " + way + " 2>&1";
    FILE* pipe = popen(line.c_str(), "r");
    char buffer[4096];
    while (const size_t n = fread(buffer, 1, sizeof buffer, pipe)) output_.append(buffer, n);
    const int status = pclose(pipe);
    if (WEXITSTATUS(status) == 77) return false;
    EXPECT_EQ(status, 0) << output_;
    read_account();
    read_trace();
    return true;
  }

  void read_account() {
    std::istringstream lines(output_);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string word;
      int queue = 0;
      words >> word >> queue;
      Op op;
      if (word == "op" && words >> op.what >> op.begin >> op.end) account_[queue].push_back(op);
      if (word == "ops") words >> counts_[queue];
    }
  }

  void read_trace() {
    auto source = trace::open_otf2(folder_ / "e" / "trace" / "traces.otf2", losses_);
    ASSERT_TRUE(source.ok()) << source.error().sentence << output_;
    const trace::Definitions& definitions = (*source)->definitions();
    for (size_t i = 0; i < definitions.locations.size(); ++i) {
      const trace::Location& location = definitions.locations[i];
      if (location.kind != trace::LocationKind::accelerator_stream) {
        calls_.definitions = &definitions;
        ASSERT_TRUE((*source)->read(LocationId(i), calls_, losses_).ok());
        continue;
      }
      int queue = -1;
      ASSERT_EQ(std::sscanf(location.name.c_str(), "queue %d of", &queue), 1) << location.name;
      Collect collect;
      collect.definitions = &definitions;
      collect.ops = &traced_[queue];
      ASSERT_TRUE((*source)->read(LocationId(i), collect, losses_).ok());
      ++lanes_[queue];
    }
  }

  /// Operation by operation, in order of time.
  void compare(int queue) {
    auto expected = account_[queue];
    auto& traced = traced_[queue];
    ASSERT_FALSE(expected.empty()) << output_;
    const auto earlier = [](const Op& a, const Op& b) { return a.begin < b.begin; };
    std::stable_sort(expected.begin(), expected.end(), earlier);
    std::stable_sort(traced.begin(), traced.end(), earlier);
    ASSERT_EQ(traced.size(), expected.size()) << "queue " << queue << "\n" << output_;
    for (size_t i = 0; i < expected.size(); ++i) {
      EXPECT_EQ(traced[i].what, expected[i].what) << "queue " << queue << ", number " << i;
      const auto length = static_cast<double>(expected[i].end - expected[i].begin);
      EXPECT_NEAR(static_cast<double>(traced[i].end - traced[i].begin), length,
                  kClocksNs + 0.001 * length)
          << "queue " << queue << ", number " << i;
      // Where it lies, seen from the first.
      const auto place = static_cast<double>(expected[i].begin - expected[0].begin);
      EXPECT_NEAR(static_cast<double>(traced[i].begin - traced[0].begin), place,
                  kClocksNs + 0.001 * place)
          << "queue " << queue << ", number " << i;
    }
  }

  /// How much the map from the device's clock may bend where an enqueue was quick.
  static constexpr double kClocksNs = 20'000;

  fs::path folder_;
  std::string output_;
  Queues account_;
  Queues traced_;
  std::map<int, size_t> counts_;
  std::map<int, int> lanes_;
  HostCalls calls_;
  Losses losses_;
};

TEST_F(OpenClTest, InOrder) {
  if (!run("in_order")) GTEST_SKIP() << "no OpenCL device";
  compare(1);
  EXPECT_EQ(lanes_[1], 1);
  // What comes before the first queue may take longest.
  EXPECT_EQ(calls_.visits["clCreateContext"], 1);
  EXPECT_EQ(calls_.visits["clBuildProgram"], 1);
  EXPECT_EQ(calls_.visits["clEnqueueMapBuffer"], 1);
  EXPECT_EQ(calls_.visits["clEnqueueReadBuffer"], 1);
  EXPECT_EQ(calls_.visits["clFinish"], 1);
}

TEST_F(OpenClTest, OutOfOrder) {
  if (!run("out_of_order")) GTEST_SKIP() << "no OpenCL device";
  compare(1);
}

TEST_F(OpenClTest, TwoQueues) {
  if (!run("two_queues")) GTEST_SKIP() << "no OpenCL device";
  compare(1);
  compare(2);
  EXPECT_EQ(calls_.visits["clSetUserEventStatus"], 1);
  EXPECT_EQ(calls_.visits["clFlush"], 2);
}

TEST_F(OpenClTest, CallbacksStayTheProgramsOwn) {
  if (!run("callbacks")) GTEST_SKIP() << "no OpenCL device";
  compare(1);
}

TEST_F(OpenClTest, TheProgramSeesNoProfilingThatItDidNotAskFor) {
  if (!run("unprofiled")) GTEST_SKIP() << "no OpenCL device";
  EXPECT_EQ(traced_[1].size(), counts_.at(1));
}

TEST_F(OpenClTest, ThreadsWithQueuesOfTheirOwn) {
  if (!run("threads")) GTEST_SKIP() << "no OpenCL device";
  for (int queue = 1; queue <= 4; ++queue) {
    EXPECT_EQ(traced_[queue].size(), counts_.at(queue)) << "queue " << queue;
  }
  EXPECT_EQ(calls_.visits["clEnqueueNDRangeKernel"], 6 + 4 * 300);
}

TEST_F(OpenClTest, ForkedChildrenAreNoPartOfIt) {
  if (!run("forks")) GTEST_SKIP() << "no OpenCL device";
  compare(1);
}

TEST_F(OpenClTest, WhatNeverEndsIsCountedAndHoldsNobodyUp) {
  if (!run("unfinished")) GTEST_SKIP() << "no OpenCL device";
  compare(1);
  EXPECT_NE(output_.find("device_ops_unfinished"), std::string::npos) << output_;
}

}  // namespace
}  // namespace culprit::tests
