// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A change is a kind of it at a function. It is known what each part gains, where the part tried
// it; the function keeps the change that brings most in all of them together.
#include "blame/bursts/scaled_gains.h"

#include <algorithm>
#include <map>
#include <utility>

#include "blame/bursts/estimate.h"
#include "blame/findings/function_id.h"

namespace culprit::blame {
namespace {

/// Of the run: what brings less is not worth a row, as in a run that was traced as a whole.
constexpr double kLeastGain = 0.005;

/// A change of a function in all parts of a run.
struct Change {
  CallPathId callpath;  ///< of the part where it brings most
  double most_s = 0;
  double known_s = 0, known_halved_s = 0;
  std::vector<SeenCost> gains, halves;

  void add(const FoundFunctionGain& row) {
    if (callpath.valid() && row.gain_s <= most_s) return;
    most_s = row.gain_s;
    callpath = row.callpath;
  }
};

using Changes = std::map<std::pair<FunctionId, GainKind>, Change>;

Changes changes_in(const CommonRun& run) {
  Changes changes;
  const auto at = [&](const FoundFunctionGain& row) -> Change& {
    Change& change = changes[{function_of(run.callpaths[row.callpath.index()]), row.kind}];
    change.add(row);
    return change;
  };
  for (const FoundFunctionGain& row : run.parts.whole.function_gains) {
    Change& change = at(row);
    change.known_s += row.gain_s;
    change.known_halved_s += row.halved_s;
  }
  for (size_t j = 0; j < run.sample().size(); ++j) {
    for (const FoundFunctionGain& row : run.sample()[j].findings.function_gains) {
      Change& change = at(row);
      change.gains.push_back({0, j, row.gain_s});
      change.halves.push_back({0, j, row.halved_s});
    }
  }
  return changes;
}

/// All time behind the part that was traced as a whole.
Strata time_of_windows(const CommonRun& run) {
  Stratum all;
  all.whole_s = run.rest_s;
  for (const TracedWindow& window : run.sample()) {
    all.seen_s.push_back(window.end_s - window.counted_from_s);
  }
  return {{all}, run.sample().size(), run.covered(), run.is_apart()};
}

}  // namespace

ScaledGains scale_gains(const CommonRun& run) {
  const Strata time = time_of_windows(run);
  const double wall_s = run.parts.profile.run.wall_s;
  std::map<FunctionId, std::pair<FoundFunctionGain, FoundEstimate>> best;
  for (const auto& [key, change] : changes_in(run)) {
    const ScaledCost gain = scale_up(time, change.gains), halved = scale_up(time, change.halves);
    const double gain_s = change.known_s + gain.cost_s;
    auto& [row, estimate] = best[key.first];
    if (gain_s <= row.gain_s || gain_s < kLeastGain * wall_s) continue;
    row = {change.callpath, key.second, gain_s, change.known_halved_s + halved.cost_s};
    const Interval bounds = interval(time, gain);
    const double low_s = change.known_s + bounds.low, high_s = change.known_s + bounds.high;
    estimate = {EstimatedFigure::gain,
                "",
                change.callpath,
                gain_s,
                change.known_s,
                low_s,
                high_s,
                gain_s / wall_s,
                low_s / wall_s,
                high_s / wall_s,
                bounds.degrees};
  }
  std::vector<std::pair<FoundFunctionGain, FoundEstimate>> list;
  for (const auto& [function, found] : best) {
    if (found.first.gain_s > 0) list.push_back(found);
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const auto& a, const auto& b) { return a.first.gain_s > b.first.gain_s; });
  ScaledGains gains;
  for (auto& [row, estimate] : list) {
    gains.rows.push_back(row);
    gains.estimates.push_back(std::move(estimate));
  }
  return gains;
}

}  // namespace culprit::blame
