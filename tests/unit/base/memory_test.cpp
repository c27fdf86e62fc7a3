// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "base/memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

namespace culprit {
namespace {

namespace fs = std::filesystem;

/// A machine as its files describe it.
class Machine : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = fs::temp_directory_path() / "culprit_memory_XXXXXX";
    root_ = mkdtemp(pattern.data());
    write("proc/meminfo", "MemTotal:       32000 kB\nMemFree: 100 kB\nMemAvailable:   8000 kB\n");
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const fs::path& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }

  fs::path root_;
};

TEST_F(Machine, GivesWhatIsFree) {
  EXPECT_EQ(8000u * 1024, available_memory(root_));
}

TEST_F(Machine, GivesWhatItsGroupLeaves) {
  write("proc/self/cgroup", "0::/job/step\n");
  write("sys/fs/cgroup/job/step/memory.max", "max\n");
  write("sys/fs/cgroup/job/step/memory.current", "900\n");
  write("sys/fs/cgroup/job/memory.max", "4000\n");
  write("sys/fs/cgroup/job/memory.current", "1500\n");
  EXPECT_EQ(2500u, available_memory(root_));
}

TEST_F(Machine, KnowsGroupsOfTheFirstVersion) {
  write("proc/self/cgroup", "4:cpu:/a\n5:memory:/job\n");
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "4000\n");
  write("sys/fs/cgroup/memory/job/memory.usage_in_bytes", "5000\n");
  EXPECT_EQ(0u, available_memory(root_));
}

TEST_F(Machine, CountsFilesInMemoryAsFree) {
  write("proc/self/cgroup", "0::/job\n");
  write("sys/fs/cgroup/job/memory.max", "4000\n");
  write("sys/fs/cgroup/job/memory.current", "3900\n");
  write("sys/fs/cgroup/job/memory.stat", "anon 900\nactive_file 1000\ninactive_file 2000\n");
  EXPECT_EQ(3100u, available_memory(root_));
}

TEST_F(Machine, MayBeUnknown) {
  fs::remove(root_ / "proc/meminfo");
  EXPECT_EQ(UINT64_MAX, available_memory(root_));
}

}  // namespace
}  // namespace culprit
