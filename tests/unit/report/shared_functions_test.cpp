// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A function that several call is named only if it does harm wherever it is called: else the caller
// that does harm by it.

#include <gtest/gtest.h>

#include "blame/judge/causes.h"
#include "report/verdict/places.h"
#include "report/verdict/verdict.h"
#include "report/words/names.h"
#include "tests/unit/report/drawing.h"
#include "trace/paradigm.h"

namespace culprit::report {
namespace {

/// Each call path's time on a rank, and what it costs others.
struct Row {
  const char* path;
  size_t rank;
  double time_s, cost_s;
};

Drawing drawing(const std::vector<Row>& rows) {
  Drawing d(2);
  for (const Row& row : rows) {
    d.call(row.path, row.rank, row.time_s, 0);
    if (row.cost_s > 0) d.delay(row.path, row.rank, row.cost_s);
  }
  return d;
}

/// "function (in callee)" of each cause, the costliest first.
std::vector<std::string> causes_of(const std::vector<Row>& rows) {
  Drawing d = drawing(rows);
  const blame::Findings& findings = d.findings();
  std::vector<std::string> found;
  for (const blame::Cause& cause : causes(findings)) {
    std::string text = findings.callpaths[cause.example.index()].region;
    if (cause.callee.valid()) {
      text += " (in " + findings.callpaths[cause.callee.index()].region + ")";
    }
    found.push_back(text);
  }
  return found;
}

using Texts = std::vector<std::string>;

TEST(SharedFunctions, ACallerAnswersForWhatOthersCallWithoutHarm) {
  EXPECT_EQ(causes_of({{"main/resolve/work", 1, 40, 60}, {"main/advance/work", 0, 30, 0}}),
            Texts{"resolve (in work)"});
}

TEST(SharedFunctions, AFunctionAnswersForItselfIfEachCallDoesHarm) {
  EXPECT_EQ(causes_of({{"main/resolve/work", 1, 40, 60}, {"main/advance/work", 1, 30, 30}}),
            Texts{"work"});
  EXPECT_EQ(causes_of({{"main/resolve/work", 1, 40, 60}, {"main/resolve/work", 0, 30, 0}}),
            Texts{"work"});
}

TEST(SharedFunctions, ACallThatDoesLittleOfTheHarmIsLateByChance) {
  EXPECT_EQ(causes_of({{"main/resolve/solve/work", 1, 90, 60},
                       {"main/advance/solve/work", 1, 10, 2},
                       {"main/advance/solve/work", 0, 10, 0}}),
            (Texts{"resolve (in work)", "advance (in work)"}));
}

TEST(SharedFunctions, HarmlessCallsThatHardlyTakeTimeDoNotMatter) {
  EXPECT_EQ(causes_of({{"main/resolve/work", 1, 40, 60}, {"main/advance/work", 0, 2, 0}}),
            Texts{"work"});
}

TEST(SharedFunctions, GoesUpAsFarAsOthersCallItToo) {
  EXPECT_EQ(causes_of({{"main/resolve/solve/dot/sum", 1, 40, 60},
                       {"main/advance/solve/dot/sum", 0, 30, 0},
                       {"main/output/dot/sum", 0, 10, 0}}),
            Texts{"resolve (in sum)"});
}

TEST(SharedFunctions, SeveralCallersThatDoHarmAreCausesOfTheirOwn) {
  EXPECT_EQ(causes_of({{"main/resolve/work", 1, 40, 60},
                       {"main/balance/work", 0, 30, 40},
                       {"main/advance/work", 0, 40, 0}}),
            (Texts{"resolve (in work)", "balance (in work)"}));
}

TEST(SharedFunctions, ACallersOwnTimeIsPartOfIt) {
  EXPECT_EQ(causes_of({{"main/resolve/work", 1, 10, 20},
                       {"main/resolve", 1, 30, 50},
                       {"main/advance/work", 0, 40, 0}}),
            Texts{"resolve"});
}

TEST(SharedFunctions, MainAnswersForWhatItCallsItself) {
  EXPECT_EQ(causes_of({{"main/work", 1, 40, 60}, {"main/advance/work", 0, 30, 0}}),
            Texts{"main (in work)"});
}

TEST(SharedFunctions, ConstructsAndCallsOfTheSystemAreNoCallers) {
  EXPECT_EQ(causes_of({{"main/resolve/!$omp parallel @a.c:3/work", 1, 40, 60},
                       {"main/advance/!$omp parallel @a.c:9/work", 0, 30, 0}}),
            Texts{"resolve (in work)"});
  EXPECT_EQ(causes_of({{"main/resolve/work/(blocked in read)", 1, 40, 60},
                       {"main/advance/work", 0, 30, 0}}),
            Texts{"resolve (in work)"});
}

TEST(SharedFunctions, NoCostIsLost) {
  Drawing d = drawing({{"main/resolve/work", 1, 40, 60},
                       {"main/balance/work", 0, 30, 40},
                       {"main/advance/work", 0, 40, 1}});
  double all_s = 0;
  for (const blame::Cause& cause : causes(d.findings())) all_s += cause.cost_s;
  EXPECT_DOUBLE_EQ(all_s, 101);
}

TEST(SharedFunctions, TheVerdictNamesBoth) {
  Drawing d = drawing({{"main/resolve/work", 1, 40, 60}, {"main/advance/work", 0, 30, 0}});
  EXPECT_NE(d.judge().text.find("resolve (in work) on rank 1"), std::string::npos)
      << d.judge().text;
}

/// What a library does is its caller's, as often as it calls itself, and whoever else calls it.
TEST(SharedFunctions, CallersAnswerForLibraries) {
  Drawing d = drawing({{"main/train/prepare", 0, 20, 20},
                       {"main/train/prepare/randn/aten::randn", 0, 50, 50},
                       {"main/train/prepare/randn/aten::randn/aten::normal_", 0, 5, 5},
                       {"main/train/step/mm/aten::mm", 0, 30, 10},
                       {"backward/aten::mm", 1, 30, 15}});
  for (blame::FoundCallPath& path : d.findings().callpaths) {
    const bool is_operator = path.region.starts_with("aten::") || path.region == "backward";
    const bool is_built_in = path.region == "randn" || path.region == "mm";
    if (is_operator || is_built_in) path.model = trace::to_string(trace::Paradigm::library);
  }
  const PageNames names(d.findings());
  Texts found;
  for (const blame::Cause& cause : causes(d.findings())) {
    EXPECT_FALSE(cause.with_callees);
    found.push_back(name_of(cause, names));
  }
  EXPECT_EQ(found, (Texts{"prepare (in randn)", "backward (in aten::mm)", "step (in mm)"}));
}

}  // namespace
}  // namespace culprit::report
