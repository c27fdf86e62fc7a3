// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What is said of a run that was traced in windows: no estimate without its interval, and what it
// rests on; nothing of the kind of a run that was traced whole.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "blame/judge/diagnose.h"
#include "report/formats.h"
#include "report/json/verdict_json.h"
#include "report/text_page/windows.h"
#include "report/words/estimates.h"
#include "tests/unit/report/drawing.h"

namespace culprit::report {
namespace {

using blame::EstimatedFigure;
using blame::Findings;

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

constexpr double kRun = 22'320;  // 6.2 h

/// Two ranks: of 1000 s of waiting 610 are for slow.
Drawing long_run() {
  Drawing d(2, kRun);
  d.delay("main/slow", 0, 610);
  d.delay("main/other", 1, 390);
  Findings& f = d.findings();
  f.coverage = {{60, 24, 36, 0.004, 2000, 0, 0}};
  f.windows = {{0, 0, 0, 60, 120, 3, 0, {}, 0},
               {1, 100, 100.2, 101.7, 3, 0.3, 0, d.path("main/slow"), 0.2},
               {2, 9000, 9000.2, 9001.7, 3, 1.5, 0, d.path("main/slow"), 1}};
  f.estimates = {
      {EstimatedFigure::waiting, "", {}, 1000, 3, 950, 1050, 1, 1, 1, 23},
      {EstimatedFigure::cause, "", d.path("main/slow"), 610, 2, 570, 650, 0.61, 0.572, 0.648, 23},
      {EstimatedFigure::delay, "", d.path("main/slow"), 610, 2, 570, 650, 0.61, 0.572, 0.648, 23}};
  return d;
}

TEST(Intervals, AreAsWideAsTheyAre) {
  EXPECT_EQ(with_interval(0.61, 0.57, 0.65), "61 +- 4 %");
  EXPECT_EQ(with_interval(0.61, 0.5721, 0.6479), "61 +- 4 %");
  EXPECT_EQ(with_interval(0.614, 0.61, 0.618), "61.4 +- 0.4 %");
  EXPECT_EQ(with_interval(0.032, 0.028, 0.036), "3.2 +- 0.4 %");
}

TEST(Intervals, AreNeverSaidToBeNarrowerThanTheyAre) {
  EXPECT_EQ(with_interval(0.61, 0.568, 0.65), "61 +- 5 %");
  EXPECT_EQ(with_interval(0.5, 0.5, 0.5), "50.0 +- 0.1 %");
}

TEST(Intervals, WithOneWideSideAreSaidByTheirEnds) {
  EXPECT_EQ(with_interval(0.61, 0.6, 0.9), "61 % (60 to 90 %)");
}

TEST(Windows, AreCountedInTheVerdict) {
  const Drawing d = long_run();
  const std::string text = d.judge().text;
  EXPECT_TRUE(has(text, "61 +- 4 % of the waiting, from 24 windows that cover 0.2 % of 6.2 h"))
      << text;
  EXPECT_TRUE(has(text, "slow on rank 0")) << text;
}

TEST(Windows, AreNotInTheVerdictOfAWholeTrace) {
  Drawing d(2, kRun);
  d.delay("main/slow", 0, 610);
  const std::string text = d.judge().text;
  EXPECT_FALSE(has(text, "window")) << text;
  EXPECT_FALSE(has(text, "+-")) << text;
}

TEST(Windows, AreExplained) {
  Drawing d = long_run();
  const Findings& f = d.findings();
  const std::string text = window_section(f, PageNames(f), TimeFormat(kRun));
  EXPECT_TRUE(has(text, "24 windows")) << text;
  EXPECT_TRUE(has(text, "between 570.0 s and 650.0 s")) << text;
  EXPECT_TRUE(has(text, "window 2, which begins 2.5 h")) << text;
  EXPECT_TRUE(has(text, "What a change would gain is not estimated")) << text;
  EXPECT_FALSE(has(text, "no window saw")) << text;
  EXPECT_EQ(window_section(Drawing(2).findings(), PageNames(f), TimeFormat(1)), "");
}

TEST(Windows, SayWhatTheyDidNotSee) {
  Drawing d = long_run();
  d.findings().coverage[0].unseen_s = 200;
  d.findings().coverage[0].beyond_s = 0.9;
  const Findings& f = d.findings();
  const std::string text = window_section(f, PageNames(f), TimeFormat(kRun));
  EXPECT_TRUE(has(text, "200.0 s (10.0 %)")) << text;
  EXPECT_TRUE(has(text, "50.0 % has no cause inside")) << text;
}

TEST(Windows, OfWhichThereAreNoneAreSaidToLack) {
  Drawing d = long_run();
  d.findings().coverage[0].windows = 0;
  const Findings& f = d.findings();
  const std::string text = window_section(f, PageNames(f), TimeFormat(kRun));
  EXPECT_TRUE(has(text, "no window")) << text;
  EXPECT_TRUE(has(text, "first")) << "what stands for the rest: " << text;
}

TEST(Windows, WithoutAnyTraceWaitingInMpiIsNotSaidToBeNone) {
  Drawing d(2);
  d.path("main/MPI_Recv");
  Findings f = d.findings();
  f.tiles = {{blame::Tile::mpi, LocationId(1), 40, d.path("main/MPI_Recv"), 40},
             {blame::Tile::useful, LocationId(0), 100, d.path("main/work"), 100}};
  f.efficiencies = {{blame::Factor::parallel, blame::Factor::none, 0.7}};
  const auto page = [&f] {
    blame::diagnose(f);
    return text(f, "folder");
  };
  EXPECT_TRUE(has(page(), "No waiting time was found"));
  EXPECT_TRUE(has(page(), "MPI itself"));
  f.coverage = {blame::FoundCoverage()};
  EXPECT_FALSE(has(page(), "No waiting time was found"));
  EXPECT_FALSE(has(page(), "MPI itself")) << "some of it may be waiting";
}

TEST(Windows, GiveCausesAnIntervalInJson) {
  Drawing d = long_run();
  const auto verdict = verdict_json(d.findings());
  EXPECT_EQ(verdict["causes"][0]["interval"]["low_s"], 570.0);
  EXPECT_EQ(verdict["causes"][0]["interval"]["share_high"], 0.648);
  Drawing whole(2);
  whole.delay("main/slow", 0, 60);
  EXPECT_TRUE(verdict_json(whole.findings())["causes"][0]["interval"].is_null());
}

}  // namespace
}  // namespace culprit::report
