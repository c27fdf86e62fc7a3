// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The results of culprit model, in words.
#pragma once

#include <string>

#include "blame/findings/findings.h"
#include "report/words/layout.h"

namespace culprit::report {

/// How the run time goes on, what grows worst, and which parameters have no effect.
std::string model_sentence(const blame::Findings& findings);

/// Returns the growth from the largest measured run to the prediction.
double growth(const blame::FoundModel& row);
/// Whether the growth is large enough to matter; the second: the shrinkage.
bool grows(const blame::FoundModel& row);
bool shrinks(const blame::FoundModel& row);

/// Whether the runs tell that it grows or shrinks at all: the interval of the prediction lies on
/// one side of the largest measured value, and the formula predicts measured values well.
bool is_certain(const blame::FoundModel& row);
bool certainly_grows(const blame::FoundModel& row);
/// Whether a time is predicted to be longer than the run that it is a part of: the formulas of both
/// cannot be right.
bool exceeds_run(const blame::FoundModel& row, const blame::Findings& findings);

/// Figures in seconds by one unit for all of them; those of files as they are.
class ModelValues {
 public:
  explicit ModelValues(const blame::Findings& findings);
  std::string operator()(const blame::FoundModel& row, double value) const;

 private:
  TimeFormat time_;
};

}  // namespace culprit::report
