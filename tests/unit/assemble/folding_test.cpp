// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How the time between two events is divided by samples, with exact answers: the same little run is
// played twice, as assembly does, and the time in each function is summed up.

#include "assemble/play/folding.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "assemble/play/timeline.h"

namespace culprit::assemble::test {
namespace {

constexpr RegionId kMain(0), kWrap(1), kMpi(2), kCompute(3), kOther(4), kNotSampled(5), kBlocked(6),
    kBetween(7);
constexpr int64_t kMs = 1'000'000;
constexpr double kPeriod = 10.0 * kMs;

Time at_ms(double ms) {
  return Time::from_nanos(static_cast<int64_t>(ms * kMs));
}

/// Own time of each region and its samples, and how much of it is known without.
class Sums : public trace::EventSink {
 public:
  void enter(Time time, RegionId region) override {
    spend(time);
    stack_.push_back(region);
  }
  void leave(Time time, RegionId region) override {
    spend(time);
    EXPECT_EQ(stack_.back(), region);
    stack_.pop_back();
  }
  void fact(Time, trace::Fact what, uint64_t value) override {
    if (what == trace::Fact::samples) samples[stack_.back()] += value;
    if (what == trace::Fact::observed) observed[stack_.back()] += value;
  }
  double ms(RegionId region) const {
    const auto found = own_.find(region);
    return found == own_.end() ? 0 : static_cast<double>(found->second) / kMs;
  }
  /// Of a region right below another.
  double ms(RegionId outer, RegionId region) const {
    const auto found = below_.find({outer, region});
    return found == below_.end() ? 0 : static_cast<double>(found->second) / kMs;
  }

  std::map<RegionId, uint64_t> samples, observed;

 private:
  void spend(Time time) {
    if (!stack_.empty()) {
      own_[stack_.back()] += (time - last_).nanos();
      if (stack_.size() > 1) {
        below_[{stack_[stack_.size() - 2], stack_.back()}] += (time - last_).nanos();
      }
    }
    last_ = time;
  }
  std::vector<RegionId> stack_;
  std::map<RegionId, int64_t> own_;
  std::map<std::pair<RegionId, RegionId>, int64_t> below_;
  Time last_;
};

using Lane = std::function<void(Timeline&)>;

std::vector<Sums> play(const std::vector<Lane>& lanes, double asleep_ns = 1e12) {
  Folding folding;
  for (size_t i = 0; i < lanes.size(); ++i) {
    StretchTally tally;
    trace::EventSink nowhere;
    Timeline timeline(nowhere, {&tally, nullptr, kNotSampled, kBlocked, kPeriod, 1});
    lanes[i](timeline);
    folding.merge(static_cast<uint32_t>(i), std::move(tally));
  }
  folding.name_sleeps([](const StretchEnds& ends) {
    return ends.from == kWrap && ends.to == kWrap && ends.same_place ? kBetween : kBlocked;
  });
  std::vector<Sums> sums(lanes.size());
  for (size_t i = 0; i < lanes.size(); ++i) {
    LaneFolding divides(folding, static_cast<uint32_t>(i), asleep_ns);
    Timeline timeline(sums[i], {nullptr, &divides, kNotSampled, kBlocked, kPeriod, 1});
    lanes[i](timeline);
  }
  return sums;
}

const UserPath kInCompute{{kMain, kCompute}, false, {3, 0}};
const UserPath kInOther{{kMain, kOther}, false, {4, 0}};

/// main calls MPI from `site`.
void call(Timeline& timeline, double begin, double end, const UserPath& caller) {
  timeline.observe(at_ms(begin), caller);
  const size_t depth = timeline.stack().size();
  timeline.enter(at_ms(begin), Level::call, kMpi);
  timeline.leave(at_ms(end), depth);
}

const UserPath kFromMain{{kMain}, false, {1}};

TEST(FoldingTest, StretchesOfAKindPoolTheirSamples) {
  const Sums sums = play({[](Timeline& timeline) {
                      timeline.enter(at_ms(0), Level::root, kMain);
                      call(timeline, 0, 1, kFromMain);
                      for (int i = 0; i < 6; ++i) {
                        const double begin = 1 + 4 * i;
                        if (i == 1 || i == 3) timeline.sample(at_ms(begin + 1), kInCompute);
                        if (i == 4) timeline.sample(at_ms(begin + 2), kInOther);
                        call(timeline, begin + 3, begin + 4, kFromMain);
                      }
                      timeline.leave(at_ms(25), 0);
                    }}).front();
  EXPECT_NEAR(sums.ms(kCompute), 12, 1e-3);
  EXPECT_NEAR(sums.ms(kOther), 6, 1e-3);
  EXPECT_EQ(sums.samples.at(kCompute), 2u);
  EXPECT_EQ(sums.samples.at(kOther), 1u);
}

TEST(FoldingTest, TwoCallsOfAWrapperAreTwoCallsAndWhatLiesBetweenIsNotTheWrappers) {
  const UserPath first{{kMain, kWrap}, false, {1, 9}}, second{{kMain, kWrap}, false, {2, 9}};
  const Sums sums = play({[&](Timeline& timeline) {
                      timeline.enter(at_ms(0), Level::root, kMain);
                      call(timeline, 0, 1, first);
                      call(timeline, 1001, 1002, second);
                      timeline.leave(at_ms(1002), 0);
                    }}).front();
  EXPECT_DOUBLE_EQ(sums.ms(kWrap), 0);
  EXPECT_DOUBLE_EQ(sums.ms(kMain, kBetween), 1000);
}

/// As in a loop: equal return addresses at both ends do not prove that the wrapper was never left.
TEST(FoldingTest, EqualCallsOfAWrapperInALoopAreNotOneCallEither) {
  const UserPath wrapped{{kMain, kWrap}, false, {1, 9}};
  const Sums sums = play({[&](Timeline& timeline) {
                      timeline.enter(at_ms(0), Level::root, kMain);
                      for (int i = 0; i < 8; ++i) call(timeline, 100 * i, 100 * i + 1, wrapped);
                      timeline.leave(at_ms(701), 0);
                    }}).front();
  EXPECT_DOUBLE_EQ(sums.ms(kWrap), 0);
  EXPECT_DOUBLE_EQ(sums.ms(kMain, kBetween), 7 * 99);
}

TEST(FoldingTest, ALongGapBetweenSamplesOfOneFunctionIsNotItsOwnTime) {
  const Sums sums = play({[](Timeline& timeline) {
                      timeline.enter(at_ms(0), Level::root, kMain);
                      timeline.sample(at_ms(5), kInCompute);
                      timeline.sample(at_ms(2005), kInCompute);
                      timeline.leave(at_ms(2010), 0);
                    }}).front();
  EXPECT_LT(sums.ms(kCompute), 40);
  EXPECT_GT(sums.ms(kMain, kBlocked), 1900);
}

TEST(FoldingTest, WhatNoSampleTellsIsNeverAFunctionsOwnTime) {
  const Sums sums = play({[](Timeline& timeline) {
                      timeline.enter(at_ms(0), Level::root, kMain);
                      for (int i = 0; i < 10; ++i) call(timeline, 3 * i + 2, 3 * i + 3, kFromMain);
                      timeline.leave(at_ms(30), 0);
                    }}).front();
  EXPECT_DOUBLE_EQ(sums.ms(kMain), 0);
  EXPECT_DOUBLE_EQ(sums.ms(kNotSampled), 20);
}

TEST(FoldingTest, FunctionsThatTellOfThemselvesHaveTheirOwnTime) {
  const Sums sums = play({[](Timeline& timeline) {
                      timeline.enter(at_ms(0), Level::root, kMain);
                      const UserPath nowhere{{kMain}, false, {1}};
                      timeline.observe(at_ms(0), nowhere);
                      timeline.enter(at_ms(0), Level::function, kCompute);
                      timeline.leave(at_ms(50), 1);
                      timeline.leave(at_ms(50), 0);
                    }}).front();
  EXPECT_DOUBLE_EQ(sums.ms(kCompute), 50);
}

TEST(FoldingTest, PartsThatTheProgramNamedHaveTheirOwnTime) {
  const Sums sums = play({[](Timeline& timeline) {
                      timeline.enter(at_ms(0), Level::root, kMain);
                      const UserPath nowhere{{kMain}, false, {1}};
                      timeline.observe(at_ms(0), nowhere);
                      timeline.enter(at_ms(0), Level::region, kCompute);
                      timeline.leave(at_ms(50), 1);
                      timeline.leave(at_ms(50), 0);
                    }}).front();
  EXPECT_DOUBLE_EQ(sums.ms(kCompute), 50);
}

TEST(FoldingTest, ASleepIsKnownWithoutSamples) {
  const Sums sums = play({[](Timeline& timeline) {
                      timeline.enter(at_ms(0), Level::root, kMain);
                      timeline.observe(at_ms(0), kInOther);
                      timeline.stay(at_ms(700));
                      timeline.leave(at_ms(700), 0);
                    }}).front();
  EXPECT_DOUBLE_EQ(sums.ms(kOther), 700);
  EXPECT_EQ(sums.observed.at(kOther), static_cast<uint64_t>(700 * kMs));
}

/// 100 stretches of 10 ms in compute on one lane, of 1 ms in another function on the other.
TEST(FoldingTest, WhatOneThreadDoesIsNotSharedOutToOthersOfWhichSamplesTellOtherwise) {
  const auto lane = [](double length, const UserPath& where, int each) {
    return [=](Timeline& timeline) {
      timeline.enter(at_ms(0), Level::root, kMain);
      call(timeline, 0, 1, kFromMain);
      double begin = 1;
      for (int i = 0; i < 100; ++i) {
        if (i % each == 0) timeline.sample(at_ms(begin + length / 2), where);
        call(timeline, begin + length, begin + length + 1, kFromMain);
        begin += length + 1;
      }
      timeline.leave(at_ms(begin), 0);
    };
  };
  const std::vector<Sums> sums = play({lane(10, kInCompute, 1), lane(1, kInOther, 10)});
  EXPECT_GT(sums[0].ms(kCompute), 950);
  EXPECT_GT(sums[1].ms(kOther), 80);
  EXPECT_LT(sums[1].ms(kCompute), 20);
}

/// Both compute for 3, 6 or 12 ms in turn; one of them does something else for a third of that
/// time.
TEST(FoldingTest, WhatAThreadWasNeverFoundDoingIsNotSharedOutToIt) {
  const auto lane = [](bool does_other) {
    return [=](Timeline& timeline) {
      timeline.enter(at_ms(0), Level::root, kMain);
      call(timeline, 0, 1, kFromMain);
      double begin = 1;
      for (int i = 0; i < 60; ++i) {
        const double length = i % 3 == 0 ? 3 : i % 3 == 1 ? 6 : 12;
        if (i % 2 == 0) {
          const bool in_other = does_other && i % 6 == 4;
          timeline.sample(at_ms(begin + length / 2), in_other ? kInOther : kInCompute);
        }
        call(timeline, begin + length, begin + length + 1, kFromMain);
        begin += length + 1;
      }
      timeline.leave(at_ms(begin), 0);
    };
  };
  const std::vector<Sums> sums = play({lane(false), lane(true)});
  EXPECT_EQ(sums[0].ms(kOther), 0);
  EXPECT_GT(sums[1].ms(kOther), 60);
}

/// Reading a file, say: the thread computes in one of ten milliseconds.
TEST(FoldingTest, FarTooFewSamplesMeanThatTheThreadDidNotCompute) {
  const Sums sums = play({[](Timeline& timeline) {
                      timeline.enter(at_ms(0), Level::root, kMain);
                      call(timeline, 0, 1, kFromMain);
                      double begin = 1;
                      for (int i = 0; i < 200; ++i) {
                        if (i % 10 == 0) timeline.sample(at_ms(begin + 1), kInCompute);
                        call(timeline, begin + 10, begin + 11, kFromMain);
                        begin += 11;
                      }
                      timeline.leave(at_ms(begin), 0);
                    }}).front();
  EXPECT_NEAR(sums.ms(kCompute), 200, 20);
  EXPECT_NEAR(sums.ms(kMain, kBlocked), 1800, 20);
}

/// Others had its core: the kernel says that it never slept.
TEST(FoldingTest, WhoNeverSleptComputedHoweverFewTheSamples) {
  const auto lane = [](Timeline& timeline) {
    timeline.enter(at_ms(0), Level::root, kMain);
    call(timeline, 0, 1, kFromMain);
    double begin = 1;
    for (int i = 0; i < 200; ++i) {
      if (i % 10 == 0) timeline.sample(at_ms(begin + 1), kInCompute);
      call(timeline, begin + 10, begin + 11, kFromMain);
      begin += 11;
    }
    timeline.leave(at_ms(begin), 0);
  };
  EXPECT_NEAR(play({lane}, 0).front().ms(kCompute), 2000, 1e-3);
  EXPECT_NEAR(play({lane}, 1200.0 * kMs).front().ms(kBlocked), 1200, 20);
}

TEST(FoldingTest, ALongGapBetweenSamplesOfTwoFunctionsBelongsToNeither) {
  const Sums sums = play({[](Timeline& timeline) {
                      timeline.enter(at_ms(0), Level::root, kMain);
                      timeline.sample(at_ms(5), kInCompute);
                      timeline.sample(at_ms(2005), kInOther);
                      timeline.leave(at_ms(2010), 0);
                    }}).front();
  EXPECT_NEAR(sums.ms(kCompute), 15, 1e-3);
  EXPECT_NEAR(sums.ms(kOther), 15, 1e-3);
  EXPECT_NEAR(sums.ms(kMain, kBlocked), 1980, 1e-3);
}

/// A million tasks of a microsecond need not become millions of visits more.
TEST(FoldingTest, ShortStretchesGoToOneFunctionEachInTurn) {
  const Sums sums = play({[](Timeline& timeline) {
                      timeline.enter(at_ms(0), Level::root, kMain);
                      double begin = 0;
                      for (int i = 0; i < 4000; ++i) {
                        if (i == 1000 || i == 2000 || i == 3000) {
                          timeline.sample(at_ms(begin + 0.005), i == 2000 ? kInOther : kInCompute);
                        }
                        call(timeline, begin + 0.01, begin + 0.011, kFromMain);
                        begin += 0.011;
                      }
                      timeline.leave(at_ms(begin), 0);
                    }}).front();
  EXPECT_NEAR(sums.ms(kCompute), 40.0 * 2 / 3, 0.1);
  EXPECT_NEAR(sums.ms(kOther), 40.0 / 3, 0.1);
}

TEST(FoldingTest, FewSamplesByChanceAreNoSleep) {
  EXPECT_DOUBLE_EQ(unsampled_part(4, 0), 0);
  EXPECT_DOUBLE_EQ(unsampled_part(100, 85), 0);
  EXPECT_DOUBLE_EQ(unsampled_part(100, 20), 0.8);
}

}  // namespace
}  // namespace culprit::assemble::test
