// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which run would sharpen models most for its cost, in the spirit of cost-effective sampling (M.
// Ritter, A. Calotoiu, S. Rinke, T. Reimann, T. Hoefler, F. Wolf: Learning cost-effective sampling
// strategies for empirical performance modeling, IPDPS 2020). The information of a run about a
// prediction is the covariance of both, which follows from the hypotheses of a model (a Gaussian
// process has the same formula: Extra-P 4.2).
#pragma once

#include <span>
#include <vector>

#include "predict/model/fit.h"
#include "predict/model/measurements.h"

namespace culprit::predict {

struct NextRun {
  Point point;
  double gain = 0;    ///< part of the variance of predictions at the target that it removes
  double cost_s = 0;  ///< allocated time that it is predicted to take
};

/// Those worth considering, the best first. `models` are of figures in seconds that together make
/// the run, `run_time` of its length.
std::vector<NextRun> next_runs(std::span<const Model* const> models, const Model& run_time,
                               const Machine& machine, std::span<const double> target);

/// The variance of predictions at `target` that a run at `point` removes, both in seconds squared.
struct Gain {
  double removed = 0, variance = 0;
};
Gain gain_of_run(const Model& model, std::span<const double> point, std::span<const double> target);

/// Points that were measured, one step beyond them and one between them.
std::vector<Point> points_to_consider(const Model& model, std::span<const double> target);

}  // namespace culprit::predict
