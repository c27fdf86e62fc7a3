// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Candidates stand on the lines that were measured: repeats, values between two neighbors, and
// values beyond the last, none beyond the target. Parameters that only had whole values stay whole.

#include "predict/model/next_run.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "predict/model/spread.h"

namespace culprit::predict {
namespace {

/// Less gain is no reason for a run.
constexpr double kLeastGain = 0.01;
constexpr int kSteps = 8;  ///< beyond what was measured, at most

using Values = std::set<double>;

/// Values of one parameter worth trying, of those that were measured on a line.
Values around(const Values& measured, double target) {
  const bool whole = std::all_of(measured.begin(), measured.end(),
                                 [](double value) { return value == std::floor(value); });
  const auto fitting = [&](double value) { return whole ? std::round(value) : value; };
  Values all = measured;
  double before = 0;
  for (const double value : measured) {
    if (before > 0) all.insert(fitting(std::sqrt(before * value)));
    before = value;
  }
  const double last = *measured.rbegin();
  const double step = measured.size() > 1 ? last / *std::next(measured.rbegin()) : 2;
  double value = last * step;
  for (int i = 0; i < kSteps && value <= target * (1 + 1e-9); ++i, value *= step) {
    all.insert(fitting(value));
  }
  return all;
}

}  // namespace

std::vector<Point> points_to_consider(const Model& model, std::span<const double> target) {
  std::set<Point> all;
  for (size_t p = 0; p < target.size(); ++p) {
    std::map<Point, Values> lines;
    for (const Point& point : model.points) {
      Point others = point;
      others[p] = 0;
      lines[others].insert(point[p]);
    }
    for (const auto& [others, measured] : lines) {
      Point point = others;
      for (const double value : around(measured, target[p])) point[p] = value, all.insert(point);
    }
  }
  return {all.begin(), all.end()};
}

Gain gain_of_run(const Model& model, std::span<const double> point,
                 std::span<const double> target) {
  double here = 0, there = 0;  // means over hypotheses
  for (const Hypothesis& each : model.hypotheses) {
    here += each.weight * value(each.formula, point);
    there += each.weight * value(each.formula, target);
  }
  double both = 0, of_run = 0;
  Gain gain;
  for (const Hypothesis& each : model.hypotheses) {
    const double off = value(each.formula, point) - here;
    const double off_there = value(each.formula, target) - there;
    both += each.weight * (covariance(each, point, target) + off * off_there);
    of_run += each.weight *
              (covariance(each, point, point) + off * off + run_variance(model, each, point));
    gain.variance += each.weight * (covariance(each, target, target) + off_there * off_there);
  }
  if (of_run > 0) gain.removed = both * both / of_run;
  return gain;
}

std::vector<NextRun> next_runs(std::span<const Model* const> models, const Model& run_time,
                               const Machine& machine, std::span<const double> target) {
  std::vector<NextRun> all;
  for (const Point& point : points_to_consider(run_time, target)) {
    NextRun run{point, 0, std::max(0.0, value(run_time.formula, point)) * machine.cores(point)};
    Gain sum;
    for (const Model* model : models) {
      const Gain gain = gain_of_run(*model, point, target);
      sum.removed += gain.removed;
      sum.variance += gain.variance;
    }
    if (sum.variance > 0) run.gain = sum.removed / sum.variance;
    if (run.gain >= kLeastGain && run.cost_s > 0) all.push_back(std::move(run));
  }
  std::stable_sort(all.begin(), all.end(), [](const NextRun& a, const NextRun& b) {
    return a.gain / a.cost_s > b.gain / b.cost_s;
  });
  return all;
}

}  // namespace culprit::predict
