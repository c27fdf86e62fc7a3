// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "base/tournament.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace culprit {
namespace {

TEST(EarliestOf, FindsTheEarliestAndOfEqualOnesTheFirst) {
  std::mt19937 random(3);
  for (size_t members : {1u, 2u, 3u, 7u, 8u, 9u, 100u}) {
    EarliestOf earliest(members);
    std::vector<Time> times(members, Time::max());
    EXPECT_EQ(earliest.time(), Time::max());
    for (int n = 0; n < 500; ++n) {
      const size_t member = random() % members;
      times[member] = random() % 8 == 0 ? Time::max()
                                        : Time::from_nanos(static_cast<int64_t>(random() % 10) - 5);
      earliest.set(member, times[member]);
      const auto first = std::min_element(times.begin(), times.end());
      ASSERT_EQ(earliest.time(), *first);
      ASSERT_EQ(earliest.member(), static_cast<size_t>(first - times.begin()));
    }
  }
}

}  // namespace
}  // namespace culprit
