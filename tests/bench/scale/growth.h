// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How fast what was measured grows, and whether that is too fast.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace culprit::bench {

/// One size of a series.
struct Row {
  double x = 0;                          ///< what grows
  double bare_s = 0, command_s = 0;      ///< CPU time
  std::map<std::string, double> passes;  ///< of the command: seconds by name
};

/// Slope of the least squares line through log(y) over log(x); both are above 0.
double exponent(const std::vector<double>& x, const std::vector<double>& y);

/// What grows faster than reading does by more than noise explains: the command as a whole, or, if
/// `judge_passes`, a pass that matters, each as a sentence. A linear cost beside a linear one has a
/// difference of exponents of 0, n log n of less than 0.1, a square of 1.
std::vector<std::string> too_fast(const std::vector<Row>& rows, bool judge_passes);

}  // namespace culprit::bench
