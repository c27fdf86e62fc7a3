// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Models of all figures of some runs, as findings: what culprit model shows and keeps.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "blame/findings/findings.h"
#include "predict/model/measurements.h"

namespace culprit::predict {

struct ModelOptions {
  std::map<std::string, double> targets;  ///< by parameter; the others: see kDefaultReach
  bool next = false;                      ///< also: which run to measure next
  unsigned threads = 0;                   ///< to use; 0: all cores
};

/// The tables of models, with the call paths they refer to. Error if a target is of a parameter
/// that does not vary, or is none.
Result<blame::Findings> model_runs(const Measurements& measurements, const ModelOptions& wishes);

/// Default target: four times the largest value of the first parameter, and the largest of the
/// others.
inline constexpr double kDefaultReach = 4;

}  // namespace culprit::predict
