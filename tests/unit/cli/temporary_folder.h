// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A folder of its own for each test, which is the current one while the test runs.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace culprit::cli {

class InTemporaryFolder : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "culprit_cli_XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = std::filesystem::canonical(name);
    before_ = std::filesystem::current_path();
    std::filesystem::current_path(folder_);
  }
  void TearDown() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }

  std::filesystem::path folder_, before_;
};

}  // namespace culprit::cli
