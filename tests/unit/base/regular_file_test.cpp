// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What lies in folders that others can write to is taken for a file only if it is one.
#include "base/files/regular_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

namespace culprit {
namespace {

namespace fs = std::filesystem;

class RegularFile : public testing::Test {
 protected:
  RegularFile() : folder_(fs::path(testing::TempDir()) / ("files." + std::to_string(getpid()))) {
    fs::create_directories(folder_ / "folder");
    std::ofstream(folder_ / "file") << "content";
    fs::create_symlink("file", folder_ / "link");
    fs::create_symlink("folder", folder_ / "folder_link");
    EXPECT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  }
  ~RegularFile() override { fs::remove_all(folder_); }

  const fs::path folder_;
};

TEST_F(RegularFile, IsReadWhole) {
  std::ofstream(folder_ / "large") << std::string(200'000, 'x');
  EXPECT_EQ(read_regular_file(folder_ / "large", Owner::self), std::string(200'000, 'x'));
  EXPECT_EQ(read_regular_file(folder_ / "file", Owner::self), "content");
  EXPECT_EQ(read_regular_file(folder_ / "none", Owner::anybody), std::nullopt);
}

TEST_F(RegularFile, IsNeitherFolderNorPipe) {
  for (const char* name : {"folder", "pipe"}) {
    EXPECT_EQ(read_regular_file(folder_ / name, Owner::anybody), std::nullopt) << name;
    EXPECT_FALSE(is_own_file(folder_ / name)) << name;
  }
}

TEST_F(RegularFile, IsReachedByALinkOnlyWhereAnybodysWillDo) {
  EXPECT_EQ(read_regular_file(folder_ / "link", Owner::anybody), "content");
  EXPECT_EQ(read_regular_file(folder_ / "link", Owner::self), std::nullopt);
  EXPECT_FALSE(is_own_file(folder_ / "link"));
  EXPECT_TRUE(is_own_folder(folder_ / "folder"));
  EXPECT_FALSE(is_own_folder(folder_ / "folder_link"));
}

TEST_F(RegularFile, OfSomebodyElseIsNotOurs) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give files away";
  ASSERT_EQ(chown((folder_ / "file").c_str(), 65534, 65534), 0);
  EXPECT_EQ(read_regular_file(folder_ / "file", Owner::anybody), "content");
  EXPECT_EQ(read_regular_file(folder_ / "file", Owner::self), std::nullopt);
}

}  // namespace
}  // namespace culprit
