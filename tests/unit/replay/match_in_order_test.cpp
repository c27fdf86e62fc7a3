// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Operations without numbers get the call that they must be of, and no other; all ways of laying
// them onto calls are tried for comparison.
#include "replay/read/in_order.h"

#include <gtest/gtest.h>

#include <optional>
#include <random>

namespace culprit::replay {
namespace {

using Matched = std::vector<uint32_t>;

Time at(int64_t us) {
  return Time::from_nanos(us * 1000);
}
Duration us(int64_t n) {
  return Duration::from_nanos(n * 1000);
}
HandedOver call(int64_t enter, int64_t done) {
  return {at(enter), at(done)};
}
Executed ran(int64_t begin, int64_t end) {
  return {at(begin), at(end)};
}

TEST(MatchInOrder, TakesAsManyAsThereAreInOrder) {
  // Nothing is ever waited for, but each call must have its operation.
  const std::vector<HandedOver> calls{{at(0)}, {at(10)}, {at(20)}};
  const std::vector<Executed> executed{ran(30, 31), ran(31, 32), ran(32, 33)};
  EXPECT_EQ(match_in_order(calls, executed, us(0)), (Matched{0, 1, 2}));
}

TEST(MatchInOrder, IsSureAgainBehindEachWait) {
  // Two calls and a wait, three times. Of the second two calls one operation is missing: which is
  // not known. What comes before and behind is.
  const std::vector<HandedOver> calls{call(0, 50),    call(1, 50),    call(100, 150),
                                      call(101, 150), call(200, 250), call(201, 250)};
  const std::vector<Executed> executed{ran(10, 20), ran(20, 30), ran(110, 140), ran(210, 220),
                                       ran(220, 240)};
  EXPECT_EQ(match_in_order(calls, executed, us(0)), (Matched{0, 1, kNoCall, 4, 5}));
}

TEST(MatchInOrder, KnowsTheMissingOneByItsTime) {
  // The second call had not been entered when the operation began.
  const std::vector<HandedOver> calls{call(0, 50), call(30, 50)};
  EXPECT_EQ(match_in_order(calls, std::vector{ran(10, 20)}, us(0)), (Matched{0}));
  EXPECT_EQ(match_in_order(calls, std::vector{ran(35, 40)}, us(0)), (Matched{kNoCall}));
}

TEST(MatchInOrder, LeavesWhatCannotBe) {
  // Two operations, and one call that they might be of; the third is as it should be.
  const std::vector<HandedOver> calls{call(0, 50), call(100, 150)};
  const std::vector<Executed> executed{ran(10, 20), ran(20, 30), ran(110, 120)};
  EXPECT_EQ(match_in_order(calls, executed, us(0)), (Matched{kNoCall, kNoCall, 1}));
  EXPECT_EQ(clock_disagreement(calls, executed), Time::max() - Time());
  EXPECT_EQ(match_in_order({}, executed, us(0)), (Matched{kNoCall, kNoCall, kNoCall}));
  EXPECT_EQ(match_in_order(calls, {}, us(0)), Matched{});
}

TEST(MatchInOrder, SeesHowMuchClocksDisagree) {
  const std::vector<HandedOver> calls{call(100, 150), call(1100, 1150)};
  EXPECT_EQ(clock_disagreement(calls, std::vector{ran(100, 150), ran(1100, 1150)}), us(0));
  EXPECT_EQ(clock_disagreement(calls, std::vector{ran(95, 110), ran(1110, 1120)}), us(8));
  EXPECT_EQ(clock_disagreement(calls, std::vector{ran(100, 153), ran(1110, 1120)}), us(4));
  EXPECT_EQ(match_in_order(calls, std::vector{ran(95, 110), ran(1097, 1100)}, us(8)),
            (Matched{0, 1}));
}

TEST(MatchInOrder, DoesNotNeedTimesThatMakeSense) {
  const std::vector<HandedOver> calls{call(0, -5), call(0, 0), call(0, 0)};
  EXPECT_EQ(match_in_order(calls, std::vector{ran(0, 0), ran(0, 0)}, us(0)).size(), 2u);
  EXPECT_EQ(match_in_order(calls, std::vector{ran(5, 1), ran(4, 0)}, us(0)).size(), 2u);
}

/// All ways in which operations from `next` on can be laid onto calls from `from` on.
void lay(const std::vector<HandedOver>& calls, const std::vector<Executed>& executed, size_t from,
         Matched& chosen, std::vector<Matched>& ways) {
  const size_t next = chosen.size();
  if (next == executed.size()) return ways.push_back(chosen);
  for (size_t c = from; c < calls.size(); ++c) {
    if (calls[c].enter > executed[next].begin || calls[c].done < executed[next].end) continue;
    chosen.push_back(static_cast<uint32_t>(c));
    lay(calls, executed, c + 1, chosen, ways);
    chosen.pop_back();
  }
}

TEST(MatchInOrder, SaysWhatAllWaysAgreeOn) {
  std::mt19937 random(1);
  size_t sure = 0, unsure = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<HandedOver> calls;
    std::vector<Executed> all, executed;
    int64_t now = 0, free = 0;
    for (size_t i = 0, n = random() % 8; i < n; ++i) {
      now += random() % 10;
      calls.push_back({at(now)});
      const int64_t begin = std::max<int64_t>(now, free) + random() % 4;
      all.push_back(ran(begin, begin + 1 + random() % 10));
      free = all.back().end.nanos() / 1000;
      if (random() % 3 != 0) continue;
      now = std::max(now, free);  // a wait
      for (HandedOver& each : calls) each.done = std::min(each.done, at(now));
    }
    for (const Executed& each : all) {
      if (random() % 5 != 0) executed.push_back(each);
    }
    std::vector<Matched> ways;
    Matched chosen;
    lay(calls, executed, 0, chosen, ways);
    ASSERT_FALSE(ways.empty());
    EXPECT_EQ(clock_disagreement(calls, executed), us(0));
    const Matched matched = match_in_order(calls, executed, us(0));
    ASSERT_EQ(matched.size(), executed.size());
    for (size_t i = 0; i < matched.size(); ++i) {
      std::optional<uint32_t> agreed = ways.front()[i];
      for (const Matched& way : ways) {
        if (way[i] != *agreed) agreed = kNoCall;
        if (*agreed == kNoCall) break;
      }
      EXPECT_EQ(matched[i], *agreed) << "round " << round << " operation " << i;
      ++(matched[i] == kNoCall ? unsure : sure);
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(sure, 3000u);
  EXPECT_GT(unsure, 300u);
}

}  // namespace
}  // namespace culprit::replay
