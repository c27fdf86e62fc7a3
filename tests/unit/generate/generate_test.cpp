// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Synthetic traces are worth measuring only if they are sound: each pattern's is analysed without
// a loss, with the identities holding and with waits in it, and its archive tells the same.
#include "tests/bench/generate/generate.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "blame/analyze.h"
#include "trace/otf2/reader.h"

namespace culprit::bench {

void PrintTo(const PatternKind& kind, std::ostream* out) {
  *out << kind.name;
}

namespace {

namespace fs = std::filesystem;

class Generated : public testing::TestWithParam<PatternKind> {
 protected:
  Generated()
      : folder_(fs::temp_directory_path() / ("culprit-generate." + std::to_string(getpid()))) {
    fs::remove_all(folder_);
  }
  ~Generated() override { fs::remove_all(folder_); }

  static blame::Findings analysed(const trace::Source& source) {
    auto found = blame::analyze(source, {1}, {});
    EXPECT_TRUE(found.ok());
    return std::move(found).value();
  }

  fs::path folder_;
  Shape shape_{.ranks = 6, .threads = 3, .iterations = 12, .seed = 5};
};

TEST_P(Generated, IsSound) {
  const auto trace = synthetic_trace(GetParam(), shape_);
  const blame::Findings found = analysed(*trace);
  for (const auto& [name, loss] : found.losses.all()) {
    ADD_FAILURE() << name << " " << loss.count;
  }
  for (const std::string& sentence : found.identities.violations) ADD_FAILURE() << sentence;
  EXPECT_FALSE(found.waits.empty());
  EXPECT_FALSE(found.delays.empty());
}

TEST_P(Generated, IsTheSameInAnArchive) {
  const auto trace = synthetic_trace(GetParam(), shape_);
  generate(folder_, GetParam(), shape_);
  Losses losses;
  auto source = trace::open_otf2(folder_ / "traces.otf2", losses);
  ASSERT_TRUE(source.ok());
  const blame::Findings drawn = analysed(*trace), read = analysed(**source);
  EXPECT_TRUE(losses.all().empty());
  EXPECT_TRUE(read.losses.all().empty());
  EXPECT_EQ(read.run.wall_s, drawn.run.wall_s);
  ASSERT_EQ(read.waits.size(), drawn.waits.size());
  for (size_t i = 0; i < read.waits.size(); ++i) {
    EXPECT_EQ(read.waits[i].time_s, drawn.waits[i].time_s);
  }
}

TEST_P(Generated, HasAboutAsManyEventsAsWanted) {
  constexpr uint64_t kWanted = 60'000;
  const uint64_t written = generate(folder_, GetParam(), with_events(GetParam(), shape_, kWanted));
  EXPECT_GT(written, kWanted * 8 / 10);
  EXPECT_LT(written, kWanted * 12 / 10);
}

INSTANTIATE_TEST_SUITE_P(Patterns, Generated,
                         testing::ValuesIn(pattern_kinds().begin(), pattern_kinds().end()),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
}  // namespace culprit::bench
