// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A scratch experiment whose raw records a test builds by hand, and what assembly makes of them.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "assemble/play_run.h"
#include "assemble/prepare_run.h"
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

  /// Plays everything; the facts must be there. With the losses of the play.
  RunFacts play() {
    auto run = prepare_run(GuardedPath(folder_) / "raw", {1, code.symbols()});
    EXPECT_TRUE(run.ok()) << (run ? "" : run.error().sentence);
    if (!run) return RunFacts();
    RunFacts facts = run.value()->facts;
    listing = Listing(run.value()->definitions);
    for (size_t i = 0; i < listing.definitions.locations.size(); ++i) {
      const auto sink = listing.open(LocationId(i));
      play_location(*run.value(), LocationId(i), *sink, facts.losses);
    }
    return facts;
  }

  /// Plays whatever is there.
  void play_damaged() {
    auto run = prepare_run(GuardedPath(folder_) / "raw", {1, code.symbols()});
    for (size_t i = 0; run && i < run.value()->lanes.size(); ++i) {
      trace::EventSink nowhere;
      Losses losses;
      play_location(*run.value(), LocationId(i), nowhere, losses);
    }
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
