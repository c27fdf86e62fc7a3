// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "blame/path_times.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace culprit::blame {
namespace {

using replay::Activity;
using replay::WaitIndex;

/// The definition, word for word.
std::map<CallPathId, Duration> by_hand(const std::vector<Activity>& all, Time end_of_life,
                                       Time begin, Time end) {
  std::map<CallPathId, Duration> sums;
  for (size_t i = 0; i < all.size(); ++i) {
    const Time stop = std::min(end, i + 1 < all.size() ? all[i + 1].begin : end_of_life);
    const Time start = std::max(begin, all[i].begin);
    if (!all[i].wait.valid() && stop > start) sums[all[i].path] += stop - start;
  }
  return sums;
}

TEST(PathTimes, SumsAnyIntervalOfManyActivities) {
  std::mt19937 random(1);
  for (size_t count : {1u, 5u, 63u, 64u, 65u, 600u, 5000u}) {
    std::vector<Activity> all;
    int64_t at = 0;
    for (size_t i = 0; i < count; ++i) {
      const bool waits = random() % 5 == 0;
      all.push_back({Time::from_nanos(at), CallPathId(random() % 20),
                     waits ? WaitIndex(0) : WaitIndex::none()});
      at += 1 + static_cast<int64_t>(random() % 9);
    }
    PathSums scratch(20);
    const PathTimes times(all, Time::from_nanos(at), scratch);
    for (int n = 0; n < 100; ++n) {
      const Time begin = Time::from_nanos(static_cast<int64_t>(random() % (at + 10)) - 5);
      const Time end = begin + Duration::from_nanos(static_cast<int64_t>(random() % (at + 10)));
      PathSums sums(20);
      times.sum(begin, end, sums);
      const auto expected = by_hand(all, Time::from_nanos(at), begin, end);
      EXPECT_EQ(expected.size(), sums.paths().size());
      for (const auto& [path, time] : expected) EXPECT_EQ(time, sums[path]);
    }
  }
}

}  // namespace
}  // namespace culprit::blame
