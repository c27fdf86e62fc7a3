// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What is said of models: nothing that the runs do not tell, and no part above the whole.
#include <gtest/gtest.h>

#include "report/formats.h"
#include "report/verdict/model_words.h"

namespace culprit::report {
namespace {

using blame::FoundModel;
using blame::ModelledFigure;

/// Runs of up to 12 ranks, and a prediction for 24.
class Models {
 public:
  Models() {
    found_.run.operation = blame::Operation::model;
    found_.run.program = "app";
    found_.model_parameters = {{"ranks", 2, 12, 5, 24, true}};
    FoundModel wall = row(ModelledFigure::wall, "", 8, 10.6);
    found_.models = {wall};
  }

  FoundModel row(ModelledFigure figure, const std::string& region, double base, double expected) {
    FoundModel made;
    made.figure = figure;
    if (!region.empty()) {
      found_.callpaths.push_back({"main/" + region, region, "", 0, {}, false, "user"});
      made.callpath = CallPathId(found_.callpaths.size() - 1);
    }
    made.formula = "c";
    made.base = base, made.expected = expected;
    made.low = expected - 0.1, made.high = expected + 0.1;
    made.error_pct = 2;
    return made;
  }
  void add(const FoundModel& row) { found_.models.push_back(row); }
  std::string verdict() const { return model_sentence(found_); }
  std::string page() const { return text(found_, {}); }

 private:
  blame::Findings found_;
};

bool has(const std::string& text, std::string_view words) {
  return text.find(words) != text.npos;
}

TEST(ModelWords, NameWhatCertainlyGrowsWorst) {
  Models models;
  models.add(models.row(ModelledFigure::time, "solve", 2, 4));
  EXPECT_TRUE(has(models.verdict(), "From ranks 12 to ranks 24 the run time grows from 8.00 s"));
  EXPECT_TRUE(has(models.verdict(), "What grows worst: time in solve (+2.00 s)"));
  EXPECT_TRUE(has(models.page(), "main/solve"));
}

TEST(ModelWords, LeaveOutAGrowthThatTheIntervalDoesNotConfirm) {
  Models models;
  FoundModel solve = models.row(ModelledFigure::time, "solve", 2, 4);
  solve.low = 1.9;
  models.add(solve);
  EXPECT_FALSE(has(models.verdict(), "solve")) << models.verdict();
  EXPECT_TRUE(has(models.page(), "1 whose growth is not certain")) << models.page();
}

TEST(ModelWords, LeaveOutAFormulaThatPredictsBadly) {
  Models models;
  FoundModel solve = models.row(ModelledFigure::time, "solve", 2, 4);
  solve.error_pct = 134;
  models.add(solve);
  EXPECT_FALSE(has(models.verdict(), "solve")) << models.verdict();
}

TEST(ModelWords, LeaveOutAPartAboveTheWhole) {
  Models models;
  models.add(models.row(ModelledFigure::time, "solve", 2, 87));
  models.add(models.row(ModelledFigure::delay, "pack", 1, 3));
  EXPECT_FALSE(has(models.verdict(), "solve")) << models.verdict();
  EXPECT_TRUE(has(models.verdict(), "waiting caused by pack"));
  EXPECT_FALSE(has(models.page(), "87.")) << models.page();
}

TEST(ModelWords, DoNotSayThatTheRunTimeGrowsIfTheRunsDoNotTell) {
  Models models;
  blame::Findings none;
  FoundModel wall = models.row(ModelledFigure::wall, "", 8, 10.6);
  wall.low = 7;
  none.models = {wall};
  none.model_parameters = {{"ranks", 2, 12, 5, 24, true}};
  EXPECT_TRUE(has(model_sentence(none), "do not tell whether the run time grows"))
      << model_sentence(none);
}

}  // namespace
}  // namespace culprit::report
