// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Clock repair on abstract input: some cases worked out by hand, then properties on random
// exchanges between clocks that run apart, drift and jump.
#include "replay/clock/repair.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace culprit::replay {
namespace {

Time at(int64_t ns) {
  return Time::from_nanos(ns);
}
constexpr ClockId A(0), B(1), C(2);

std::vector<int64_t> repaired(const ClockMap& map, const std::vector<int64_t>& recorded) {
  std::vector<int64_t> out;
  for (int64_t ns : recorded) out.push_back(map(at(ns)).nanos());
  return out;
}

TEST(ClockRepair, ChangesNothingWhereNothingIsWrong) {
  Precedence order;
  order.message(A, at(10), B, at(10));
  order.message(B, at(12), A, at(900));
  const ClockRepair repair = repair_clocks(order, 3, 1);
  EXPECT_TRUE(repair.maps[0].identity());
  EXPECT_TRUE(repair.maps[1].identity());
  EXPECT_EQ(repair.repairs, 0u);
}

// Sent at 1000, received at 900: B's clock is put forward by 100 there. One part in a hundred of
// the time leads there and back: 100 * 100 = 10000 before, and after.
TEST(ClockRepair, PutsForwardAndFallsBackSlowly) {
  Precedence order;
  order.message(A, at(1000), B, at(900));
  const ClockRepair repair = repair_clocks(order, 3, 1);
  EXPECT_TRUE(repair.maps[0].identity());
  EXPECT_EQ(repaired(repair.maps[1], {-20000, -9100, -4100, 800, 900, 1000, 5900, 10900, 20000}),
            (std::vector<int64_t>{-20000, -9100, -4100 + 50, 800 + 99, 1000, 1000 + 99, 5900 + 50,
                                  10900, 20000}));
  EXPECT_EQ(repair.repairs, 1u);
  EXPECT_EQ(repair.largest, Duration::from_nanos(100));
  EXPECT_EQ(repair.total, Duration::from_nanos(100));
  EXPECT_EQ(repair.unrepaired, 0u);
}

// B sent at 500 what C received at 510: that send may move by 10 at most. So the way up to the step
// at 900 leads through (500, +10): half way, at 700, +55. Before it, 10 * 100 = 1000.
TEST(ClockRepair, OvertakesNothingOnTheWayUp) {
  Precedence order;
  order.message(B, at(500), C, at(510));
  order.message(A, at(1000), B, at(900));
  const ClockRepair repair = repair_clocks(order, 3, 1);
  EXPECT_EQ(repaired(repair.maps[1], {-500, 0, 500, 700, 900}),
            (std::vector<int64_t>{-500, 0 + 5, 510, 700 + 55, 1000}));
  EXPECT_TRUE(repair.maps[2].identity());
}

// Two limits, (600, +40) and (500, +10); the straight way from (500, +10) to (900, +100) is at 600
// at 32.5, below the first limit, so that one bends nothing.
TEST(ClockRepair, IsNowhereSteeperThanItMustBe) {
  Precedence order;
  order.message(B, at(500), C, at(510));
  order.message(B, at(600), C, at(640));
  order.message(A, at(1000), B, at(900));
  const ClockRepair repair = repair_clocks(order, 3, 1);
  EXPECT_EQ(repaired(repair.maps[1], {500, 600, 700}), (std::vector<int64_t>{510, 632, 755}));
}

// A's send at 1000 puts B forward by 100 at 900; B's at 1900 (+90 left) then C's by 90+50 at 1850.
TEST(ClockRepair, FollowsChains) {
  Precedence order;
  order.message(A, at(1000), B, at(900));
  order.message(B, at(1900), C, at(1850));
  const ClockRepair repair = repair_clocks(order, 3, 1);
  EXPECT_EQ(repair.maps[2](at(1850)), at(1990));
  EXPECT_EQ(repair.largest, Duration::from_nanos(140));
  EXPECT_EQ(repair.repairs, 2u);
}

// Entered at 1000, 700, 400; left at 900, 705, 1100: nobody leaves before 1000.
TEST(ClockRepair, AllWaitForAll) {
  Precedence order;
  const ExchangeId barrier = order.add_exchange();
  order.begins(barrier, A, at(1000));
  order.begins(barrier, B, at(700));
  order.begins(barrier, C, at(400));
  order.ends(barrier, A, at(1000));
  order.ends(barrier, B, at(705));
  order.ends(barrier, C, at(1100));
  const ClockRepair repair = repair_clocks(order, 3, 1);
  EXPECT_TRUE(repair.maps[0].identity());
  EXPECT_EQ(repair.maps[1](at(705)), at(1000));
  EXPECT_TRUE(repair.maps[2].identity());
}

// C's prefix needs A's and B's part; B's only A's.
TEST(ClockRepair, PrefixesAreChains) {
  Precedence order;
  const ExchangeId to_b = order.add_exchange(), to_c = order.add_exchange();
  order.begins(to_b, A, at(500));
  order.ends(to_b, B, at(450));
  order.follows(to_b, to_c);
  order.begins(to_c, B, at(100));
  order.ends(to_c, C, at(90));
  const ClockRepair repair = repair_clocks(order, 3, 1);
  EXPECT_EQ(repair.maps[1](at(450)), at(500));
  EXPECT_EQ(repair.maps[2](at(90)), at(500));
  EXPECT_EQ(repair.unrepaired, 0u);
}

// B forwards at the very time at which it received too early: what it sent moves along.
TEST(ClockRepair, MovesWhatIsSentAtTheTimeOfARepair) {
  Precedence order;
  order.message(A, at(1000), B, at(900));
  order.message(B, at(900), C, at(950));
  const ClockRepair repair = repair_clocks(order, 3, 1);
  EXPECT_EQ(repair.maps[1](at(900)), at(1000));
  EXPECT_EQ(repair.maps[2](at(950)), at(1000));
  EXPECT_EQ(repair.unrepaired, 0u);
}

// B sent at -500 what nobody is known to have received: nothing is in its way.
TEST(ClockRepair, MovesFreelyWhatNobodyWaitedFor) {
  Precedence order;
  order.begins(order.add_exchange(), B, at(-500));
  order.message(A, at(-300), B, at(-400));
  const ClockRepair repair = repair_clocks(order, 3, 1);
  EXPECT_EQ(repaired(repair.maps[1], {-500, -400}), (std::vector<int64_t>{-500 + 99, -300}));
}

// Each received before it sent what the other received: somebody took one message for another.
TEST(ClockRepair, LeavesContradictionsAlone) {
  Precedence order;
  order.message(A, at(20), B, at(10));
  order.message(B, at(30), A, at(10));
  order.message(A, at(100), C, at(60));
  const ClockRepair repair = repair_clocks(order, 3, 1);
  EXPECT_EQ(repair.unrepaired, 1u);
  EXPECT_GE(repair.maps[2](at(60)), repair.maps[0](at(100)));
  EXPECT_LE(repair.largest, Duration::from_nanos(60));
}

// From one end of time to the other, as damaged archives have it.
TEST(ClockRepair, LeavesAbsurdTimesAlone) {
  constexpr int64_t kFar = int64_t{1} << 61;
  Precedence order;
  order.message(A, at(kFar), B, at(-kFar));
  order.message(A, at(-kFar), B, at(-kFar + 5));
  order.message(A, at(kFar), C, at(kFar - (int64_t{1} << 54)));
  const ClockRepair repair = repair_clocks(order, 3, 1);
  EXPECT_EQ(repair.unrepaired, 1u);
  EXPECT_TRUE(repair.maps[1].identity());
  EXPECT_EQ(repair.maps[2](at(kFar - (int64_t{1} << 54))), at(kFar));
}

TEST(ClockRepair, OneClockCannotContradictItself) {
  Precedence order;
  order.message(A, at(20), A, at(10));
  const ClockRepair repair = repair_clocks(order, 1, 1);
  EXPECT_EQ(repair.unrepaired, 1u);
  EXPECT_TRUE(repair.maps[0].identity());
}

// --- random exchanges
// -----------------------------------------------------------------------

/// What had to come before what, kept twice: as told, and to check it.
class RandomExchanges {
 public:
  explicit RandomExchanges(uint32_t seed, bool lying) : random_(seed) {
    clocks_ = static_cast<size_t>(pick(1, 8));
    for (size_t c = 0; c < clocks_; ++c) {
      offset_.push_back(lying ? pick(-3000, 3000) : 0);
      drift_.push_back(lying ? pick(-20, 20) : 0);
      now_.push_back(pick(0, 500));
      recorded_.push_back(0);
      read_at_.push_back(0);
      times.emplace_back();
    }
    jitter_ = lying ? pick(0, 3) * 100 : 0;
    const int64_t steps = pick(1, 120);
    for (int64_t s = 0; s < steps; ++s) step();
  }

  struct Order {
    size_t from;
    int64_t begin;
    size_t to;
    int64_t end;
  };
  Precedence precedence;
  std::vector<Order> orders;
  std::vector<std::vector<int64_t>> times;  // by clock, in order

 private:
  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }

  /// What a clock shows now. It never stands still, or it would contradict the others.
  int64_t read(size_t c) {
    const int64_t jitter = jitter_ == 0 ? 0 : pick(-jitter_, jitter_);
    const int64_t shown = now_[c] + offset_[c] + now_[c] * drift_[c] / 1000 + jitter;
    if (times[c].empty()) {
      recorded_[c] = shown;
    } else if (now_[c] > read_at_[c]) {
      recorded_[c] = std::max(recorded_[c] + 1, shown);
    }
    read_at_[c] = now_[c];
    times[c].push_back(recorded_[c]);
    return recorded_[c];
  }

  void step() {
    for (size_t c = 0; c < clocks_; ++c) now_[c] += pick(0, 3) * pick(0, 200);
    const size_t a = static_cast<size_t>(pick(0, int64_t(clocks_) - 1));
    switch (pick(0, 6)) {
      case 0:
        return all(true, true, a);
      case 1:
        return all(true, false, a);
      case 2:
        return all(false, true, a);
      case 3:
        return prefix();
      default:
        return message(a, (a + 1 + static_cast<size_t>(pick(0, 2))) % clocks_);
    }
  }

  void message(size_t a, size_t b) {
    if (a == b) return;
    const int64_t sent = read(a);
    now_[b] = std::max(now_[b], now_[a] + pick(0, 5));
    const int64_t received = read(b);
    precedence.message(ClockId(a), at(sent), ClockId(b), at(received));
    orders.push_back({a, sent, b, received});
  }

  void all(bool all_begin, bool all_end, size_t root) {
    const ExchangeId exchange = precedence.add_exchange();
    std::vector<Order> begins;
    int64_t last = INT64_MIN;
    for (size_t c = 0; c < clocks_; ++c) {
      if (!all_begin && c != root) continue;
      begins.push_back({c, read(c), 0, 0});
      precedence.begins(exchange, ClockId(c), at(begins.back().begin));
      last = std::max(last, now_[c]);
    }
    for (size_t c = 0; c < clocks_; ++c) {
      if (!all_end && c != root) continue;
      now_[c] = std::max(now_[c], last) + pick(0, 3);
      const int64_t end = read(c);
      precedence.ends(exchange, ClockId(c), at(end));
      for (const Order& o : begins) orders.push_back({o.from, o.begin, c, end});
    }
  }

  void prefix() {
    std::vector<Order> begins;
    ExchangeId before;
    int64_t last = INT64_MIN;
    for (size_t c = 0; c < clocks_; ++c) {
      const int64_t begin = read(c);
      last = std::max(last, now_[c]);
      now_[c] = last + pick(0, 3);
      if (c > 0) {
        const int64_t end = read(c);
        precedence.ends(before, ClockId(c), at(end));
        for (const Order& o : begins) orders.push_back({o.from, o.begin, c, end});
      }
      begins.push_back({c, begin, 0, 0});
      if (c + 1 == clocks_) break;
      const ExchangeId next = precedence.add_exchange();
      precedence.begins(next, ClockId(c), at(begin));
      if (c > 0) precedence.follows(before, next);
      before = next;
    }
  }

  std::mt19937 random_;
  size_t clocks_ = 0;
  int64_t jitter_ = 0;
  std::vector<int64_t> offset_, drift_, now_, recorded_, read_at_;
};

/// The sum of all violations bounds every shift: a shift is one violation more than another one.
int64_t sum_of_violations(const RandomExchanges& random) {
  int64_t sum = 0;
  for (const auto& o : random.orders) sum += std::max<int64_t>(0, o.begin - o.end);
  return sum;
}

void expect_repaired(const RandomExchanges& random, const ClockRepair& repair, uint32_t seed) {
  EXPECT_EQ(repair.unrepaired, 0u) << "seed " << seed;
  for (const auto& o : random.orders) {
    EXPECT_LE(repair.maps[o.from](at(o.begin)), repair.maps[o.to](at(o.end))) << "seed " << seed;
  }
  const int64_t most = sum_of_violations(random);
  EXPECT_LE(repair.largest.nanos(), most) << "seed " << seed;
  for (size_t c = 0; c < random.times.size(); ++c) {
    const ClockMap& map = repair.maps[c];
    ClockMap::Cursor cursor(map);
    int64_t last = INT64_MIN, last_repaired = INT64_MIN;
    for (int64_t now : random.times[c]) {
      const int64_t then = map(at(now)).nanos();
      EXPECT_EQ(cursor(at(now)).nanos(), then) << "seed " << seed;
      EXPECT_GE(then, now) << "seed " << seed;
      EXPECT_LE(then, now + most) << "seed " << seed;
      if (last != INT64_MIN) {
        const int64_t shrunk = (now - last) - (then - last_repaired);
        EXPECT_LE(shrunk, (now - last + kFallBack - 1) / kFallBack) << "seed " << seed;
      }
      last = now, last_repaired = then;
    }
  }
}

TEST(ClockRepairOfRandomExchanges, LeavesNoViolation) {
  uint64_t repairs = 0;
  for (uint32_t seed = 0; seed < 20000; ++seed) {
    const RandomExchanges random(seed, true);
    const ClockRepair repair = repair_clocks(random.precedence, random.times.size(), 1);
    expect_repaired(random, repair, seed);
    EXPECT_EQ(repair.repairs == 0, sum_of_violations(random) == 0) << "seed " << seed;
    repairs += repair.repairs;
    if (HasFailure()) return;
  }
  EXPECT_GT(repairs, 100000u);  // else the test tests nothing
}

TEST(ClockRepairOfRandomExchanges, IsTheIdentityWhereClocksAgree) {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    const RandomExchanges random(seed, false);
    ASSERT_EQ(sum_of_violations(random), 0);
    const ClockRepair repair = repair_clocks(random.precedence, random.times.size(), 1);
    for (const ClockMap& map : repair.maps) EXPECT_TRUE(map.identity()) << "seed " << seed;
  }
}

TEST(ClockRepairOfRandomExchanges, NeverGoesBackwards) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    const RandomExchanges random(seed, true);
    const ClockRepair repair = repair_clocks(random.precedence, random.times.size(), 1);
    for (size_t c = 0; c < repair.maps.size(); ++c) {
      if (random.times[c].empty()) continue;
      ClockMap::Cursor map(repair.maps[c]);
      Time last = Time::min();
      for (int64_t t = random.times[c].front() - 500; t < random.times[c].back() + 500; ++t) {
        const Time now = map(at(t));
        ASSERT_GE(now, last) << "seed " << seed << " clock " << c << " at " << t;
        last = now;
      }
    }
  }
}

TEST(ClockRepairOfRandomExchanges, DoesNotDependOnThreads) {
  for (uint32_t seed = 0; seed < 300; ++seed) {
    const RandomExchanges random(seed, true);
    const ClockRepair one = repair_clocks(random.precedence, random.times.size(), 1);
    const ClockRepair five = repair_clocks(random.precedence, random.times.size(), 5);
    for (size_t c = 0; c < random.times.size(); ++c) {
      EXPECT_EQ(repaired(one.maps[c], random.times[c]), repaired(five.maps[c], random.times[c]));
    }
  }
}

/// Times drawn at random contradict each other: whatever is told, the repair ends, and counts what
/// it could not do.
TEST(ClockRepairOfRandomExchanges, SurvivesNonsense) {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int64_t most) {
      return std::uniform_int_distribution<int64_t>(0, most)(random);
    };
    const size_t clocks = static_cast<size_t>(pick(5)) + 1;
    Precedence order;
    struct Message {
      ClockId from, to;
      Time begin, end;
    };
    std::vector<Message> messages;
    for (int64_t i = pick(40); i > 0; --i) {
      const auto clock = [&] { return ClockId(static_cast<size_t>(pick(int64_t(clocks) - 1))); };
      messages.push_back({clock(), clock(), at(pick(60)), at(pick(60))});
      order.message(messages.back().from, messages.back().begin, messages.back().to,
                    messages.back().end);
    }
    const ClockRepair repair = repair_clocks(order, clocks, 1);
    uint64_t early = 0;
    for (const Message& m : messages) {
      early += repair.maps[m.to.index()](m.end) < repair.maps[m.from.index()](m.begin);
    }
    EXPECT_EQ(early, repair.unrepaired) << "seed " << seed;
  }
}

}  // namespace
}  // namespace culprit::replay
