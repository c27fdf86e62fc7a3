// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "blame/profile/path_times.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace culprit::blame {
namespace {

struct Life {
  replay::Run run;  // of one location
  Column<replay::Wait> waits;
  Life() { run.timelines.resize(1); }
  replay::Activities& activities() { return run.timelines[0].activities; }
  const replay::Activities& activities() const { return run.timelines[0].activities; }
};

/// The definition, word for word.
/// Calls by which one polls: a wait for what they ask for goes on in all of them.
bool asks(CallPathId path) {
  return path.index() % 3 == 0;
}

std::map<CallPathId, Duration> by_hand(const Life& life, Time begin, Time end) {
  std::map<CallPathId, Duration> sums;
  const replay::Activities& all = life.activities();
  for (size_t i = 0; i < all.size(); ++i) {
    const Time start = std::max(begin, all.begin(i)), stop = std::min(end, all.end(i));
    if (stop <= start) continue;
    sums[all.path(i)] += stop - start;
    for (const replay::Wait& wait : life.waits) {
      const Time from = std::max(start, wait.begin), to = std::min(stop, wait.end);
      const bool polls = wait.pattern == replay::pattern("mpi.polling") && asks(all.path(i));
      if ((polls || wait.path == all.path(i)) && from < to) sums[all.path(i)] -= to - from;
    }
  }
  std::erase_if(sums, [](const auto& entry) { return entry.second == Duration::zero(); });
  return sums;
}

Life random_life(std::mt19937& random, size_t count) {
  Life life;
  for (size_t path = 0; path < 20; ++path) life.run.polls.push_back(asks(CallPathId(path)));
  int64_t at = 0;
  for (size_t i = 0; i < count; ++i) {
    const CallPathId path(random() % 20);
    const int64_t length = 1 + static_cast<int64_t>(random() % 9);
    life.activities().push_back(Time::from_nanos(at), path);
    if (random() % 5 == 0) {  // mostly within the activity, sometimes over the next one, too
      const int64_t begin = at + static_cast<int64_t>(random() % length);
      const int64_t end = begin + 1 + static_cast<int64_t>(random() % 6);
      const bool polls = asks(path);
      const bool free = life.waits.empty() || life.waits.back().end.nanos() <= begin;
      if (free) {
        life.waits.push_back({Time::from_nanos(begin), Time::from_nanos(end), Duration::zero(),
                              path, LocationId(0), 0,
                              polls ? replay::pattern("mpi.polling") : replay::Pattern{}});
      }
    }
    at += length;
  }
  life.activities().set_end(Time::from_nanos(at));
  return life;
}

TEST(PathTimes, SumsAnyIntervalOfManyActivities) {
  std::mt19937 random(1);
  for (size_t count : {1u, 5u, 63u, 64u, 65u, 600u, 5000u}) {
    const Life life = random_life(random, count);
    const int64_t at = life.activities().end(count - 1).nanos();
    PathSums scratch(20);
    const PathTimes times(life.run, LocationId(0), life.waits, scratch);
    for (int n = 0; n < 100; ++n) {
      const Time begin = Time::from_nanos(static_cast<int64_t>(random() % (at + 10)) - 5);
      const Time end = begin + Duration::from_nanos(static_cast<int64_t>(random() % (at + 10)));
      PathSums sums(20);
      times.sum(begin, end, sums);
      const auto expected = by_hand(life, begin, end);
      EXPECT_EQ(expected.size(), sums.paths().size());
      for (const auto& [path, time] : expected) EXPECT_EQ(time, sums[path]);
    }
  }
}

}  // namespace
}  // namespace culprit::blame
