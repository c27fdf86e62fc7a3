// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the system's texts say, and what is kept of them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "assemble/machine/machine_keeper.h"
#include "assemble/machine/machine_use.h"
#include "assemble/machine/system_counts.h"

namespace culprit::assemble::machine {
namespace {

constexpr uint64_t kTick = 10'000'000;

TEST(SystemCounts, AddsUpTheCoresAskedFor) {
  const CoreCounts counts = count_cores(
      "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 10 1 2 100 5 3 4 7 8 1\ncpu1 1 0 0 50 0 0 0 1 0 0\n"
      "cpu12 1000 0 0 0 0 0 0 0 0 0\nintr 5\n",
      {0, 1}, kTick);
  EXPECT_EQ(counts.busy_ns, (10 + 1 + 2 + 3 + 4 + 1) * kTick);
  EXPECT_EQ(counts.idle_ns, (105 + 50) * kTick);
  EXPECT_EQ(counts.steal_ns, 8 * kTick);
}

TEST(SystemCounts, ReadsAProcessWhoseNameIsAnything) {
  const auto process = count_process(
      "4711 (a) b ( 1) R 17 1 1 0 -1 4194304 1 2 3 4 150 50 7 8 20 0 3 0 998877 1 2 3 4 5 6 7 8 9 "
      "10 11 12 13 14 15 17 5 0 0 0",
      kTick);
  ASSERT_TRUE(process);
  EXPECT_EQ(process->pid, 4711u);
  EXPECT_EQ(process->name, "a) b ( 1");
  EXPECT_EQ(process->parent, 17u);
  EXPECT_EQ(process->cpu_ns, 200 * kTick);
  EXPECT_EQ(process->started, 998877u);
  EXPECT_EQ(process->core, 5);
  EXPECT_FALSE(count_process("", kTick));
  EXPECT_FALSE(count_process("12 no name", kTick));
}

using Files = std::map<std::string, std::string>;
uint64_t throttled(std::string_view groups, const Files& files) {
  return throttled_ns(groups, [&](const std::string& name) -> std::optional<std::string> {
    const auto found = files.find(name);
    if (found == files.end()) return std::nullopt;
    return found->second;
  });
}

TEST(SystemCounts, FindsAQuotaOfEitherVersion) {
  EXPECT_EQ(throttled("0::/job.slice/step\n",
                      {{"job.slice/step/cpu.stat", "nr_throttled 0\nthrottled_usec 0\n"},
                       {"job.slice/cpu.stat", "nr_periods 9\nthrottled_usec 2500\n"}}),
            2'500'000u)
      << "that of a group around";
  EXPECT_EQ(throttled("4:memory:/x\n3:cpu,cpuacct:/docker/abc\n",
                      {{"cpu,cpuacct/docker/abc/cpu.stat", "throttled_time 77\n"}}),
            77u);
  EXPECT_EQ(throttled("3:cpu,cpuacct:/docker/abc\n", {{"cpu/cpu.stat", "throttled_time 78\n"}}),
            78u)
      << "in a container the path is that of outside";
  EXPECT_EQ(throttled("0::/\n", {{"cpu.stat", "throttled_usec 3\n"}}), 3000u);
  EXPECT_EQ(throttled("nonsense", {}), 0u);
}

class MachineFiles : public testing::Test {
 protected:
  MachineFiles() {
    char name[] = "/tmp/culprit-machine-XXXXXX";
    folder_ = mkdtemp(name);
    std::filesystem::create_directory(folder_ / "raw");
  }
  ~MachineFiles() override { std::filesystem::remove_all(folder_); }
  GuardedPath raw() const { return GuardedPath(folder_) / "raw"; }
  std::filesystem::path folder_;
};

TEST_F(MachineFiles, KeepWhatWasSeen) {
  MachineUse use{"box", "boot", 8, {{.begin_ns = 1, .end_ns = 5, .busy_ns = 3, .steal_ns = 2}}};
  use.intervals[0].others = {{7, "a program\nwith a strange name", 9}};
  ASSERT_TRUE(begin_machine(raw(), use));
  EXPECT_FALSE(begin_machine(raw(), use)) << "somebody keeps it already";
  const auto read = read_machines(raw());
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].host, "box");
  EXPECT_EQ(read[0].cores, 8u);
  ASSERT_EQ(read[0].intervals.size(), 1u);
  EXPECT_EQ(read[0].intervals[0].steal_ns, 2u);
  ASSERT_EQ(read[0].intervals[0].others.size(), 1u);
  EXPECT_EQ(read[0].intervals[0].others[0].name, "a program?with a strange name");
}

TEST_F(MachineFiles, EndWhereTheyMakeNoSense) {
  std::ofstream(folder_ / "raw" / "machine.x")
      << "culprit-machine-1\nx\nboot\ncores 2\ninterval 1 5 1 1 1 1 1\ninterval 4 9 1 1 1 1 1\n";
  std::ofstream(folder_ / "raw" / "machine.y") << "culprit-machine-1\ny\nboot\nother 1 1 a\n";
  std::ofstream(folder_ / "raw" / "machine.z") << "else\n";
  const auto read = read_machines(raw());
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].intervals.size(), 1u) << "the second begins before the first has ended";
}

TEST_F(MachineFiles, JoinIntervals) {
  Interval first{.begin_ns = 1, .end_ns = 2, .busy_ns = 5}, second{.begin_ns = 2, .end_ns = 3};
  first.others = {{1, "a", 10}};
  second.others = {{2, "b", 30}, {1, "a", 5}};
  join(first, second);
  EXPECT_EQ(first.end_ns, 3u);
  ASSERT_EQ(first.others.size(), 2u);
  EXPECT_EQ(first.others[0].name, "b");
  EXPECT_EQ(first.others[1].cpu_ns, 15u);
}

// This process is the one that keeps, and its child is of the run; neither is anybody else.
TEST_F(MachineFiles, AreKeptOfThisMachine) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  std::filesystem::create_directory(folder_ / "raw" /
                                    (std::string(host) + "." + std::to_string(getpid()) + ".a"));
  MachineKeeper keeper(folder_);
  usleep(30'000);
  keeper.step(/*last=*/true);
  const auto read = read_machines(raw());
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].host, host);
  EXPECT_GE(read[0].cores, 1u);
  ASSERT_EQ(read[0].intervals.size(), 1u);
  for (const ProcessUse& other : read[0].intervals[0].others) {
    EXPECT_NE(other.pid, static_cast<uint32_t>(getpid()));
  }
}

}  // namespace
}  // namespace culprit::assemble::machine
