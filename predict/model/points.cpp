// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which points determine formulas: five values of each parameter on a line on which no other
// changes (as Extra-P requires), so that the effects of parameters can be separated.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "predict/model/fit.h"
#include "predict/model/hypotheses.h"
#include "predict/model/measurements.h"

namespace culprit::predict {
namespace {

size_t different(std::span<const Point> points, size_t parameter) {
  std::set<double> values;
  for (const Point& point : points) values.insert(point[parameter]);
  return values.size();
}

/// The most values of a parameter among points that are otherwise alike.
size_t longest_line(std::span<const Point> points, size_t parameter) {
  std::map<Point, std::set<double>> lines;
  size_t longest = 0;
  for (const Point& point : points) {
    Point others = point;
    others[parameter] = 0;
    auto& line = lines[others];
    line.insert(point[parameter]);
    longest = std::max(longest, line.size());
  }
  return longest;
}

}  // namespace

Result<void> check_points(std::span<const std::string> parameters, std::span<const Point> points) {
  if (parameters.empty()) {
    return Error{
        "these runs do not differ in ranks or threads: name what they differ in (--param)"};
  }
  if (parameters.size() > kMostParameters) {
    return Error{fmt::format(
        "these runs differ in {} parameters, and models are over {} at most: choose (--over)",
        parameters.size(), kMostParameters)};
  }
  for (size_t p = 0; p < parameters.size(); ++p) {
    const auto least = std::min_element(points.begin(), points.end(),
                                        [p](auto& a, auto& b) { return a[p] < b[p]; });
    if ((*least)[p] <= 0) {
      return Error{fmt::format("{} is {} in a run, and formulas need numbers above 0",
                               parameters[p], (*least)[p])};
    }
    const size_t values = different(points, p);
    if (values < kLeastPoints) {
      return Error{fmt::format("{} has {} different value{} in these runs, and a formula needs {}",
                               parameters[p], values, values == 1 ? "" : "s", kLeastPoints)};
    }
    if (const size_t line = longest_line(points, p); line < kLeastPoints) {
      return Error{fmt::format(
          "the effect of {} cannot be told from that of other parameters: run {} of its values "
          "while nothing else changes, or leave the others to chance (--over {})",
          parameters[p], kLeastPoints, parameters[p])};
    }
  }
  return {};
}

void add_value(std::vector<Sample>& samples, const Point& point, double value) {
  const auto at = std::lower_bound(
      samples.begin(), samples.end(), point,
      [](const Sample& sample, const Point& wanted) { return sample.point < wanted; });
  if (at != samples.end() && at->point == point) {
    at->values.push_back(value);
  } else {
    samples.insert(at, Sample{point, {value}});
  }
}

}  // namespace culprit::predict
