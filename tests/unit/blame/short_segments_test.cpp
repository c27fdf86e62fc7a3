// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "blame/critical_path/short_segments.h"

#include <gtest/gtest.h>

#include <random>

namespace culprit::blame {
namespace {

/// Segments of these lengths, each at a call path of its own number.
std::vector<PathSegment> path_of(const std::vector<int64_t>& lengths) {
  std::vector<PathSegment> path;
  Time now = Time::from_nanos(1000);
  for (size_t i = 0; i < lengths.size(); ++i) {
    const Time end = now + Duration::from_nanos(lengths[i]);
    path.push_back({LocationId(i % 3), CallPathId(i), now, end});
    now = end;
  }
  return path;
}

TEST(ShortSegments, AreLeftAloneIfTheyAreFew) {
  const auto path = path_of({1, 2, 1, 100, 3});
  EXPECT_EQ(join_short_segments(path, 5).size(), 5u);
}

TEST(ShortSegments, JoinUnderTheLongestAndLeaveLongOnesWhole) {
  // Twice 109 / 4 and 1 is 55: what lasts that long stands alone.
  const auto joined = join_short_segments(path_of({1, 2, 1, 100, 3, 2}), 4);
  ASSERT_EQ(joined.size(), 3u);
  EXPECT_EQ(joined[0].path, CallPathId(1));
  EXPECT_EQ(joined[1].path, CallPathId(3));
  EXPECT_EQ(joined[1].end - joined[1].begin, Duration::from_nanos(100));
  EXPECT_EQ(joined[2].path, CallPathId(4));
}

TEST(ShortSegments, StayContiguousAndAreNoMoreThanAskedFor) {
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<int64_t> lengths(1 + random() % 2000);
    for (int64_t& length : lengths) length = 1 + random() % (random() % 7 == 0 ? 5000 : 10);
    const auto path = path_of(lengths);
    const size_t most = 2 + random() % 200;
    const auto joined = join_short_segments(path, most);
    EXPECT_LE(joined.size(), std::max<size_t>(most, 2) + 2);
    EXPECT_EQ(joined.front().begin, path.front().begin);
    EXPECT_EQ(joined.back().end, path.back().end);
    for (size_t i = 1; i < joined.size(); ++i) EXPECT_EQ(joined[i - 1].end, joined[i].begin);
  }
}

}  // namespace
}  // namespace culprit::blame
