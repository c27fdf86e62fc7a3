// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A scratch experiment whose raw records a test builds by hand, and what assembly makes of them.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "assemble/passes.h"
#include "listing.h"
#include "raw_builder.h"

namespace culprit::assemble::test {

/// Call paths as the unwinder sees them: _start and libc lie before main.
inline std::vector<std::string> in_main(std::vector<std::string> functions) {
  functions.insert(functions.begin(), {"_start", "libc:__libc_start_main", "main"});
  return functions;
}

class AssembleTest : public testing::Test {
 protected:
  AssembleTest() {
    folder_ = testing::TempDir() + "/assemble." + std::to_string(getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_ / "raw");
  }
  ~AssembleTest() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<RawProcessBuilder> process(const std::string& name = "node1.1.a") {
    return std::make_unique<RawProcessBuilder>(folder_ / "raw" / name, code);
  }

  /// Plays everything; the facts must be there.
  RunFacts play() {
    auto result = run_passes(folder_ / "raw", listing, {1, code.symbols(), NameCache()});
    EXPECT_TRUE(result.ok()) << (result ? "" : result.error().sentence);
    return result ? std::move(result).value() : RunFacts();
  }

  uint64_t losses(const RunFacts& facts, const char* name) {
    const auto loss = facts.losses.all().find(name);
    return loss == facts.losses.all().end() ? 0 : loss->second.count;
  }

  std::filesystem::path folder_;
  FakeCode code;
  Listing listing;
};

}  // namespace culprit::assemble::test
