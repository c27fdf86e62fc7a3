// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Drawn runs, executed again with a change.
#pragma once

#include <gtest/gtest.h>

#include "predict/rerun/what_if.h"
#include "tests/support/text/text.h"

namespace culprit::predict {

inline Result<Prediction> predict(const char* picture, const Scenario& scenario) {
  const auto trace = trace::TextTrace::parse(picture);
  EXPECT_TRUE(trace.ok());
  return what_if(**trace, scenario, 1, {});
}

/// What the run takes by executing it again, and by analysing what comes out, is the same.
inline void expect_wall(const char* picture, const Scenario& scenario, double wall_s) {
  const auto found = predict(picture, scenario);
  ASSERT_TRUE(found.ok()) << found.error().sentence;
  EXPECT_NEAR(found->predicted_wall_s, wall_s, 1e-6);
  EXPECT_NEAR(found->predicted.run.wall_s, wall_s, 1e-6);
  EXPECT_NEAR(found->unchanged_wall_s, found->wall_s, 1e-6);
  EXPECT_TRUE(found->predicted.identities.violations.empty());
}

inline Scenario scale(const char* callpaths, double factor) {
  Scenario scenario;
  scenario.scalings.push_back({callpaths, factor});
  return scenario;
}

}  // namespace culprit::predict
