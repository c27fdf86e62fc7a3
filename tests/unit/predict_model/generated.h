// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Measurements of functions that are known, with noise that is a share of the value.
#pragma once

#include <functional>
#include <random>
#include <vector>

#include "predict/model/fit.h"

namespace culprit::predict {

using Function = std::function<double(const Point&)>;

/// `repeats` values at each point, each off by a normal share with that deviation.
inline std::vector<Sample> generated(const Function& function, const std::vector<Point>& points,
                                     int repeats = 1, double noise = 0, uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> share(0, 1);
  std::vector<Sample> samples;
  for (const Point& point : points) {
    Sample& sample = samples.emplace_back(Sample{point, {}});
    for (int i = 0; i < repeats; ++i) {
      sample.values.push_back(function(point) * (1 + noise * share(random)));
    }
  }
  return samples;
}

inline std::vector<Point> line(const std::vector<double>& values) {
  std::vector<Point> points;
  for (const double value : values) points.push_back({value});
  return points;
}

inline std::vector<Point> grid(const std::vector<double>& first,
                               const std::vector<double>& second) {
  std::vector<Point> points;
  for (const double a : first) {
    for (const double b : second) points.push_back({a, b});
  }
  return points;
}

}  // namespace culprit::predict
