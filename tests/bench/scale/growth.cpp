// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/bench/scale/growth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace culprit::bench {

namespace {

/// CPU time of a process differs by a tenth from run to run. Passes are wall-clock time, which on a
/// busy machine differs by a factor of several, the best of a few runs by less.
constexpr double kCommand = 0.25, kPass = 0.7;
constexpr double kMatters = 0.05;  ///< of the passes' time, in the largest size
constexpr double kLeast_s = 5e-3;  ///< below is start-up

/// Of a pass that was too short to be measured in small sizes, these are left out.
double exponent_of(const std::vector<Row>& rows, const std::string& pass) {
  std::vector<double> x, y;
  for (const Row& row : rows) {
    const auto found = row.passes.find(pass);
    if (found == row.passes.end() || found->second < kLeast_s) continue;
    x.push_back(row.x);
    y.push_back(found->second);
  }
  return x.size() < 2 ? 0 : exponent(x, y);
}

}  // namespace

double exponent(const std::vector<double>& x, const std::vector<double>& y) {
  double sum_x = 0, sum_y = 0, sum_xx = 0, sum_xy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double lx = std::log(x[i]), ly = std::log(y[i]);
    sum_x += lx, sum_y += ly, sum_xx += lx * lx, sum_xy += lx * ly;
  }
  const auto n = static_cast<double>(x.size());
  const double width = n * sum_xx - sum_x * sum_x;
  return width < 1e-9 ? 0 : (n * sum_xy - sum_x * sum_y) / width;
}

std::vector<std::string> too_fast(const std::vector<Row>& rows, bool judge_passes) {
  if (rows.size() < 2) return {};
  std::vector<std::string> found;
  std::vector<double> x, bare, command;
  for (const Row& row : rows) {
    x.push_back(row.x), bare.push_back(row.bare_s), command.push_back(row.command_s);
  }
  const double faster = exponent(x, command) - std::max(0.0, exponent(x, bare));
  if (faster > kCommand) {
    found.push_back(fmt::format("the command grows by {:.2f} powers faster than reading", faster));
  }
  if (!judge_passes) return found;
  double all_s = 0;
  for (const auto& [name, time_s] : rows.back().passes) all_s += time_s;
  const double read = std::max(0.0, exponent_of(rows, "read"));
  for (const auto& [name, time_s] : rows.back().passes) {
    const double more = exponent_of(rows, name) - read;
    if (time_s >= kMatters * all_s && more > kPass) {
      found.push_back(fmt::format("{} grows by {:.2f} powers faster than reading", name, more));
    }
  }
  return found;
}

}  // namespace culprit::bench
