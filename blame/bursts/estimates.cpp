// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Rows add up to causes, call paths and patterns, and so do their residuals. The delays of a cause
// are found as reports find them, so that the interval is that of the cost that they name.

#include "blame/bursts/estimates.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "blame/judge/causes.h"
#include "blame/profile/start_up.h"

namespace culprit::blame {
namespace {

/// Below this part of the waiting, costs of call paths are not worth a row: reports name none.
constexpr double kWorthARow = 0.001;

/// A sum of rows.
struct Total {
  double known_s = 0;
  ScaledCost scaled;

  /// `part`: a row, or another sum.
  template <class Part>
  void add(const Part& part, double sign = 1) {
    known_s += sign * part.known_s;
    scaled += part.scaled.times(sign);
  }
  double time_s() const { return known_s + scaled.cost_s; }
};

// The values that go with the cost of a delay: those of its ScaledCost, and its known part.
std::vector<double> values_of(const ScaledRow<FoundDelay>& row, size_t windows) {
  std::vector<double> values{row.known_s, row.scaled.cost_s, row.scaled.seen_s,
                             row.scaled.unseen_s};
  values.insert(values.end(), row.scaled.residuals_s.begin(), row.scaled.residuals_s.end());
  values.resize(4 + windows);
  return values;
}

Total total_of(const std::vector<double>& values) {
  return {values[0], {values[1], values[2], values[3], {values.begin() + 4, values.end()}}};
}

class Estimating {
 public:
  Estimating(const CommonRun& run, const ScaledWaits& waits, const Findings& joined)
      : run_(run), waits_(waits), joined_(joined) {}

  std::vector<FoundEstimate> of_waiting(const Strata& strata) {
    for (const auto& row : waits_.waits) whole_.add(row);
    const Total all = whole_;
    for (const auto& row : waits_.delays) {
      if (is_of_start_up(joined_, row.row)) whole_.add(row, -1);
    }
    add(strata, EstimatedFigure::waiting, "", {}, whole_);
    std::map<std::pair<std::string, CallPathId>, Total> waits;
    for (const auto& row : waits_.waits) {
      waits[{row.row.pattern, {}}].add(row);
      waits[{row.row.pattern, row.row.callpath}].add(row);
    }
    // What is waited because of start-up is part of them.
    const Total without_start_up = std::exchange(whole_, all);
    for (const auto& [key, total] : waits) {
      add(strata, EstimatedFigure::waiting, key.first, key.second, total);
    }
    whole_ = without_start_up;
    std::map<CallPathId, Total> delays;
    for (const auto& row : waits_.delays) {
      if (!is_of_start_up(joined_, row.row)) delays[row.row.callpath].add(row);
    }
    for (const auto& [path, total] : delays) {
      add(strata, EstimatedFigure::delay, "", path, total);
    }
    add_causes(strata);
    return std::move(rows_);
  }

  std::vector<FoundEstimate> of_critical_path(const PathStrata& paths) {
    std::map<CallPathId, std::vector<SeenCost>> seen;
    std::map<CallPathId, Total> totals;
    for (const FoundCriticalCallPath& row : run_.parts.whole.critical_callpaths) {
      totals[row.callpath].known_s += row.time_s;
    }
    for (size_t j = 0; j < run_.sample().size(); ++j) {
      for (const auto& row : run_.sample()[j].findings.critical_callpaths) {
        seen[row.callpath].push_back({paths.of(row.callpath), j, row.time_s});
      }
    }
    for (const auto& [path, costs] : seen) totals[path].scaled = scale_up(paths.strata(), costs);
    for (const auto& [path, total] : totals) whole_.add(total);
    for (const auto& [path, total] : totals) {
      add(paths.strata(), EstimatedFigure::critical, "", path, total);
    }
    return std::move(rows_);
  }

 private:
  void add_causes(const Strata& strata) {
    const size_t windows = run_.sample().size();
    std::vector<std::vector<double>> values;
    for (const auto& row : waits_.delays) values.push_back(values_of(row, windows));
    for (const Cause& cause : causes(joined_, values)) {
      add(strata, EstimatedFigure::cause, "", cause.costliest, total_of(cause.values));
    }
  }

  void add(const Strata& strata, EstimatedFigure figure, const std::string& pattern,
           CallPathId callpath, const Total& total) {
    if (total.time_s() <= 0 || total.time_s() < kWorthARow * whole_.time_s()) return;
    const Interval bounds = interval(strata, total.scaled);
    const Interval share =
        interval_of_share(strata, total.scaled, total.known_s, whole_.scaled, whole_.known_s);
    rows_.push_back({figure, pattern, callpath, total.time_s(), total.known_s,
                     total.known_s + bounds.low, total.known_s + bounds.high,
                     total.time_s() / whole_.time_s(), share.low, share.high, bounds.degrees});
  }

  const CommonRun& run_;
  const ScaledWaits& waits_;
  const Findings& joined_;
  Total whole_;  ///< that shares are of
  std::vector<FoundEstimate> rows_;
};

}  // namespace

std::vector<FoundEstimate> find_estimates(const CommonRun& run, const WaitStrata& places,
                                          const PathStrata& paths, const ScaledWaits& waits,
                                          const Findings& joined) {
  std::vector<FoundEstimate> rows = Estimating(run, waits, joined).of_waiting(places.strata());
  for (FoundEstimate& row : Estimating(run, waits, joined).of_critical_path(paths)) {
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const FoundEstimate& a, const FoundEstimate& b) {
    return a.figure != b.figure ? a.figure < b.figure : a.time_s > b.time_s;
  });
  return rows;
}

}  // namespace culprit::blame
