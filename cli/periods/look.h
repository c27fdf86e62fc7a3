// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The series of culprit periods, and the periods found in them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "blame/findings/findings.h"
#include "predict/periods/series.h"

namespace culprit::cli {

struct PeriodsArguments {
  std::filesystem::path input;
  std::filesystem::path values;  ///< a file of times and values instead
  std::filesystem::path output;
  std::vector<std::string> series;  ///< names of blame::SeriesKind; empty: all
  std::string ranks;
  predict::SeriesSelection selection;
  std::string format = "text";
  bool profile = false;  ///< of the findings, although there is a trace
  bool follow = false;
  double every_s = 1;
  unsigned threads = 0;
};

/// At a moment of the run.
struct FoundPeriods {
  std::vector<blame::FoundPeriod> rows;
  double now_s = 0;  ///< in a run that goes on, now; else its end
};

/// Finds periods in the file of values, the trace, or the findings where there is no trace. Error
/// if there is no input.
Result<FoundPeriods> look_for_periods(const PeriodsArguments& arguments);

/// Prints what there is of a run that goes on, again and again until the run ends. Returns the exit
/// status.
int follow_periods(const PeriodsArguments& arguments);

}  // namespace culprit::cli
