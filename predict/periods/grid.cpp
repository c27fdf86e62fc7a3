// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "predict/periods/grid.h"

#include <string>

#include "predict/periods/period.h"
#include "predict/periods/series.h"

namespace culprit::predict {
namespace {

constexpr size_t kLeastSteps = 4096;  ///< of a run, unless a rate is asked for
constexpr size_t kMostSteps = 1 << 17;
constexpr size_t kStepsPerVisit = 4;

}  // namespace

Result<void> check_part(const SeriesSelection& selection) {
  if (selection.from_s < selection.to_s) return {};
  return Error{"the part to look at begins after it ends"};
}

Result<void> check_ranks(const SeriesSelection& selection, const std::set<uint32_t>& of_run) {
  for (const uint32_t rank : selection.ranks) {
    if (!of_run.contains(rank)) return Error{"the run has no such rank: " + std::to_string(rank)};
  }
  return {};
}

Result<Grid> make_grid(Time begin, Time end, uint64_t visits, const SeriesSelection& selection) {
  const double wall_s = (end - begin).seconds();
  const double from_s = std::max(selection.from_s, 0.0), to_s = std::min(selection.to_s, wall_s);
  if (auto part = check_part(selection); !part) return part.error();
  if (from_s >= to_s) {
    return Error{"the run has ended by then: it lasts " + std::to_string(wall_s) + " s"};
  }
  size_t steps = kLeastSteps;
  while (steps < kMostSteps && steps < kStepsPerVisit * visits) steps *= 2;
  if (selection.rate_hz > 0) {
    const double wanted = std::ceil((to_s - from_s) * selection.rate_hz);
    if (wanted < static_cast<double>(kLeastSamples)) {
      return Error{"fewer than " + std::to_string(kLeastSamples) +
                   " values say nothing: ask for a higher --rate"};
    }
    if (wanted > static_cast<double>(kMostSamples)) {
      return Error{"these are more than " + std::to_string(kMostSamples) +
                   " values: ask for a lower --rate, or a part of the run"};
    }
    steps = static_cast<size_t>(wanted);
  }
  const auto at = [&](double second) {
    return begin + Duration::from_nanos(static_cast<int64_t>(std::llround(second * 1e9)));
  };
  return Grid(at(from_s), to_s < wall_s ? at(to_s) : end, steps);
}

}  // namespace culprit::predict
