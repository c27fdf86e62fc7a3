// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// However many ranks share a trace, they project the gains that one projects: of every picture, of
// random programs, and of the generator's.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "predict/rerun/gains.h"
#include "tests/bench/generate/generate.h"
#include "tests/support/pictures.h"
#include "tests/support/rank_threads.h"
#include "tests/support/same_findings.h"
#include "tests/support/text/text.h"
#include "tests/unit/blame/random_trace.h"

namespace culprit::predict {
namespace {

namespace fs = std::filesystem;

using blame::Findings;
using testing_support::RandomTrace;
using testing_support::RankThreads;

Findings projected_on(size_t size, const trace::Source& trace, double allowance = 1) {
  Findings findings;
  RankThreads(size).run([&](Transport& ranks) {
    GainObserver observer(1);
    blame::AnalyzeOptions options;
    options.threads = 1;
    options.ranks = &ranks;
    options.observer = &observer;
    options.allowance = allowance;
    auto found = blame::analyze(trace, options, {});
    ASSERT_TRUE(found.ok());
    if (ranks.rank() == 0) findings = std::move(*found);
  });
  return findings;
}

bool says(const Findings& findings, std::string_view words) {
  return std::any_of(findings.run.notes.begin(), findings.run.notes.end(),
                     [&](const std::string& note) { return note.find(words) != note.npos; });
}

/// What was compared.
struct Compared {
  size_t gains = 0, with_locks = 0;
};

void compare(const trace::Source& trace, const std::string& name,
             std::initializer_list<size_t> sizes, Compared& compared) {
  const Findings one = projected_on(1, trace);
  for (const size_t size : sizes) {
    const Findings many = projected_on(size, trace);
    EXPECT_EQ(testing_support::difference(one, many), "") << name << " on " << size << " ranks";
    EXPECT_NEAR(one.progress.gain_s, many.progress.gain_s, 1e-9) << name;
    EXPECT_EQ(one.run.notes, many.run.notes) << name;
  }
  compared.gains += one.progress.gain_s > 0;
  for (const blame::FoundGain& row : one.gains) compared.gains += row.gain_s > 0;
  compared.with_locks += says(one, "waited for locks");
}

class GainsOnRanks : public testing::TestWithParam<std::string> {};

TEST_P(GainsOnRanks, AreThoseOfOne) {
  std::ifstream file(fs::path(PICTURES) / (GetParam() + ".txt"));
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto picture = trace::TextTrace::parse(text);
  ASSERT_TRUE(picture.ok()) << picture.error().sentence;
  Compared compared;
  compare(**picture, GetParam(), {2, 3, 4}, compared);
}

INSTANTIATE_TEST_SUITE_P(Pictures, GainsOnRanks, testing::ValuesIn(testing_support::all_pictures()),
                         [](const auto& info) { return info.param; });

TEST(GainsOnRanks, AreThoseOfOneInRandomPrograms) {
  Compared compared;
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    const auto trace = RandomTrace::make(seed, {.no_ties = true, .ranks = 2 + seed % 7});
    compare(trace, "seed " + std::to_string(seed), {2 + seed % 3, 5}, compared);
  }
  EXPECT_GT(compared.gains, 60u);
  EXPECT_GT(compared.with_locks, 5u);
}

TEST(GainsOnRanks, AreThoseOfOneInGeneratedPrograms) {
  Compared compared;
  for (const bench::PatternKind& kind : bench::pattern_kinds()) {
    const auto trace = bench::synthetic_trace(kind, {.ranks = 7, .threads = 3, .iterations = 12});
    compare(*trace, std::string(kind.name), {2, 3, 4}, compared);
  }
  EXPECT_GT(compared.gains, 20u);
}

/// Ranks come to the end of their allowance one by one, at marks or at steps; none waits for ever.
TEST(GainsOnRanks, AreGivenUpTogether) {
  size_t given_up = 0, projected = 0;
  for (const double allowance : {0.0, 1e-5, 1e-4, 3e-4, 1e-3, 1e-2}) {
    for (uint32_t seed = 1; seed <= 4; ++seed) {
      const auto trace =
          bench::synthetic_trace(*bench::find_pattern("stencil"),
                                 {.ranks = 6, .threads = 2, .iterations = 60, .seed = seed});
      const Findings found = projected_on(3, *trace, allowance);
      const bool said = says(found, "how much shorter");
      EXPECT_NE(said, !found.gains.empty()) << allowance;
      said ? ++given_up : ++projected;
    }
  }
  EXPECT_GT(given_up, 4u);
  EXPECT_GT(projected, 2u);
}

}  // namespace
}  // namespace culprit::predict
