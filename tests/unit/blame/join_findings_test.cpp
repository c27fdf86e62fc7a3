// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What ranks found, joined on the first: every field of every row arrives, of lists of which each
// rank has rows of its own in the order of ranks, and of all others the first rank's.

#include "blame/collect/join_findings.h"

#include <gtest/gtest.h>

#include "tests/support/filled_findings.h"
#include "tests/support/rank_threads.h"

namespace culprit::blame {
namespace {

using testing_support::FindingsFiller;
using testing_support::shown;

constexpr size_t kRanks = 3;

/// Rows of its own on each rank; the rest is the same everywhere.
Findings found_by(size_t rank) {
  Findings found = FindingsFiller(0).fill();
  const Findings own = FindingsFiller(10'000 * (rank + 1)).fill();
  visit_lists_of<Origin::each_rank>([](auto& rows, const auto& by_rank) { rows = by_rank; }, found,
                                    own);
  return found;
}

template <class Row>
void expect_same(const std::vector<Row>& actual, const std::vector<Row>& expected) {
  ASSERT_EQ(actual.size(), expected.size()) << Table<Row>::kName;
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_EQ(shown(actual[i]), shown(expected[i])) << Table<Row>::kName << " " << i;
  }
}

TEST(JoinFindings, BringsEveryFieldOfEveryRank) {
  Findings expected = found_by(0);
  for (size_t rank = 1; rank < kRanks; ++rank) {
    const Findings more = found_by(rank);
    visit_lists_of<Origin::each_rank>(
        [](auto& all, const auto& rows) { all.insert(all.end(), rows.begin(), rows.end()); },
        expected, more);
    for (size_t i = 0; i < expected.locations.size(); ++i) {  // each rank knows of its own
      expected.locations[i].life_s += more.locations[i].life_s;
      expected.locations[i].waiting_s += more.locations[i].waiting_s;
    }
  }
  testing_support::RankThreads(kRanks).run([&](Transport& ranks) {
    Findings found = found_by(ranks.rank());
    join_findings(ranks, found);
    if (ranks.rank() != 0) return;
    visit_lists([](const auto& rows, const auto& wanted) { expect_same(rows, wanted); }, found,
                expected);
  });
}

}  // namespace
}  // namespace culprit::blame
