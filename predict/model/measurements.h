// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Measurements: figures of several runs, by the parameters in which the runs differ. Times are
// means over the threads of a run, so that those of all call paths add up to its run time, and do
// not grow with the number of ranks by themselves.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "blame/findings/findings.h"
#include "predict/model/noise.h"

namespace culprit::predict {

/// A parameter that the user named, with its value in each run.
struct NamedParameter {
  std::string name;
  std::vector<double> values;
};

struct ParameterChoice {
  std::vector<NamedParameter> named;  ///< besides ranks, threads and those recorded with the runs
  std::vector<std::string> over;      ///< these alone; empty: all that vary
};

/// One figure at one call path, in all runs.
struct Series {
  blame::ModelledFigure figure{};
  std::string metric;  ///< of `other`
  CallPathId callpath;
  std::string pattern;
  std::vector<Sample> samples;
};

/// Processes and threads of each run, which determine its cost; if runs differ in them, their
/// places among the parameters.
struct Machine {
  double ranks = 1, threads = 1;
  std::optional<size_t> ranks_at, threads_at;

  double cores(std::span<const double> point) const;
};

struct Measurements {
  std::vector<std::string> parameters;
  std::vector<blame::FoundCallPath> callpaths;
  std::vector<Series> series;
  std::optional<Machine> machine;  ///< none, if they come from a file
  size_t left_out = 0;             ///< series that are too small to matter
};

/// The names of parameters that culprit counts itself.
inline constexpr const char* kRanks = "ranks";
inline constexpr const char* kThreads = "threads";

/// Threads of a process, the largest number over processes.
size_t threads_of(const blame::Findings& findings);

/// Collects the measurements of runs of one program. Error, in a sentence, if the programs differ,
/// or the runs are too few, incomplete, or do not separate the effects of parameters. `names` are
/// those of the runs, for errors.
Result<Measurements> measurements_of(std::span<const blame::Findings* const> runs,
                                     std::span<const std::string> names,
                                     const ParameterChoice& choice);

/// Extra-P's JSON Lines: {"params": {"p": 8}, "callpath": "main->solve", "metric": "time", "value":
/// 1.2}, a line for each value, or a list of them; call paths and metrics may be absent. Error as
/// above, or with the line that is none.
Result<Measurements> read_json_lines(const std::string& text);

/// The same format, a line for each run; metrics are named as in findings.
std::string write_json_lines(const Measurements& measurements);

/// Error if no formula can be found from these points; it says what to do about it.
Result<void> check_points(std::span<const std::string> parameters, std::span<const Point> points);

/// Adds a value to the sample of its point.
void add_value(std::vector<Sample>& samples, const Point& point, double value);

}  // namespace culprit::predict
