// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What is said of projected gains: never a number, nor a reason, of what is not known.
#include <gtest/gtest.h>

#include "report/verdict/gains.h"

namespace culprit::report {
namespace {

using blame::Findings;
using blame::GainKind;

constexpr GainKind kBalanced = GainKind::balanced;

/// A run of 100 s in which main calls functions, which all call nap.
class Drawing {
 public:
  Drawing() {
    found_.run.wall_s = 100;
    ranks(2);
    found_.locations = {{"0.0", 0, 0, "n1", 100, 0, ""}, {"1.0", 1, 0, "n1", 100, 0, ""}};
    found_.callpaths = {{"main", "main", "", 0, CallPathId(), false}};
  }

  void ranks(uint32_t count) { found_.run.ranks = found_.run.locations = count; }

  CallPathId add(const std::string& caller, const std::string& region, double cost_s) {
    const std::string parent = "main/" + caller;
    found_.callpaths.push_back({parent, caller, "", 0, CallPathId(0), false});
    found_.callpaths.push_back(
        {parent + "/" + region, region, "", 0, CallPathId(found_.callpaths.size() - 1), false});
    const CallPathId path(found_.callpaths.size() - 1);
    if (cost_s > 0) found_.delays.push_back({"mpi.late_sender", path, LocationId(0), cost_s, 0});
    return path;
  }
  void gain(CallPathId path, double alone_s, double together_s) {
    found_.gains.push_back({path, kBalanced, alone_s, together_s});
  }
  void function(CallPathId path, double gain_s, GainKind kind = kBalanced) {
    found_.function_gains.push_back({path, kind, gain_s});
  }

  std::string of(CallPathId path) const { return gain_sentence(found_, path, TimeFormat(100)); }
  std::string verdict() const {
    const blame::Cause first = causes(found_).front();
    return gain_in_short(found_, first, TimeFormat(100)) + ". " +
           further_gains(found_, first, PageNames(found_), TimeFormat(100));
  }

 private:
  Findings found_;
};

TEST(Gains, AreSaidInSeconds) {
  Drawing d;
  const CallPathId path = d.add("solve", "nap", 50);
  d.gain(path, 20, 20);
  d.function(path, 20);
  EXPECT_EQ(d.of(path), "Balanced, the run would be 20.00 s (20.0 %) shorter.");
  EXPECT_EQ(d.verdict(), "; balanced: 20.00 s (20 %) shorter. ");
}

TEST(Gains, AreSaidToBeNone) {
  Drawing d;
  const CallPathId path = d.add("solve", "nap", 50);
  d.gain(path, 0.1, 0.1);
  EXPECT_EQ(d.of(path), "Balanced, the run would hardly be shorter: others take as long.");
}

TEST(Gains, OfLittleThatCostsLittleHaveNoReason) {
  Drawing d;
  const CallPathId path = d.add("solve", "nap", 2);
  d.ranks(100);
  d.gain(path, 0.1, 0.1);
  EXPECT_EQ(d.of(path), "Balanced, the run would hardly be shorter.");
}

TEST(Gains, AreSaidToBeLosses) {
  Drawing d;
  const CallPathId path = d.add("solve", "nap", 50);
  d.gain(path, -7, -7);
  d.function(path, -7);
  EXPECT_EQ(d.of(path),
            "Balanced, the run would be 7.00 s (7.0 %) longer: others would be late "
            "then.");
  EXPECT_EQ(d.verdict(), "; balanced: 7.00 s (7.0 %) longer. ");
}

TEST(Gains, OfWhatCostsNextToNothingAreNotSaid) {
  Drawing d;
  const CallPathId path = d.add("solve", "nap", 0.01);
  d.gain(path, 0, 0);
  EXPECT_EQ(d.of(path), "");
}

TEST(Gains, OfTheNextDelayAreFoundBehindTrifles) {
  Drawing d;
  const CallPathId alpha = d.add("step", "alpha", 50), rest = d.add("step", "rest", 1),
                   beta = d.add("step", "beta", 0);
  d.gain(alpha, 0, 0);
  d.gain(rest, 0, 0);
  d.gain(beta, 0, 29);
  d.function(alpha, 0);
  EXPECT_EQ(d.verdict(),
            "; balanced: hardly shorter. Then "
            "beta is next: it and all that costs more changed, it would be 29.00 s "
            "(29.0 %) shorter.");
}

TEST(Gains, OfTwoDelaysAreOfBoth) {
  Drawing d;
  const CallPathId alpha = d.add("step", "alpha", 50), beta = d.add("step", "beta", 10);
  d.gain(alpha, 5, 5);
  d.gain(beta, 0, 29);
  d.function(alpha, 5);
  EXPECT_NE(d.verdict().find(" Then beta is next: both changed, it would be 29.00 s (29.0 %) "
                             "shorter."),
            std::string::npos)
      << d.verdict();
}

TEST(Gains, OfAFunctionAreThoseOfAllItsCallPaths) {
  Drawing d;
  const CallPathId alpha = d.add("alpha", "nap", 50), beta = d.add("beta", "nap", 10);
  d.gain(alpha, 0, 0);
  d.gain(beta, 0, 29);
  d.function(alpha, 29);
  EXPECT_EQ(d.verdict(), "; balanced: 29.00 s (29 %) shorter. ");
}

TEST(Gains, OfAFunctionThatIsSharedInPartAreMixed) {
  Drawing d;
  const CallPathId alpha = d.add("alpha", "nap", 50), beta = d.add("beta", "nap", 10);
  d.gain(alpha, 20, 20);
  d.gain(beta, 9, 29);
  d.function(alpha, 29, GainKind::mixed);
  EXPECT_EQ(d.verdict(), "; balanced or twice as fast: 29.00 s (29 %) shorter. ");
}

TEST(Gains, AreOfAPathWhereNamesCoincide) {
  Drawing d;
  const CallPathId alpha = d.add("alpha", "nap", 50), beta = d.add("beta", "nap", 0);
  d.gain(alpha, 0, 0);
  d.gain(beta, 0, 29);
  d.function(alpha, 0);
  EXPECT_NE(d.verdict().find("Then main/beta/nap is next"), std::string::npos) << d.verdict();
}

TEST(Gains, MayBeLargerElsewhere) {
  Drawing d;
  const CallPathId alpha = d.add("step", "alpha", 50), beta = d.add("step", "beta", 10);
  d.gain(alpha, 5, 5);
  d.gain(beta, 20, 25);
  d.function(alpha, 5);
  d.function(beta, 20);
  EXPECT_NE(d.verdict().find(" Most would come from beta: balanced, 20.00 s (20.0 %)."),
            std::string::npos)
      << d.verdict();
  EXPECT_EQ(d.verdict().find("Then"), std::string::npos) << d.verdict();
}

}  // namespace
}  // namespace culprit::report
