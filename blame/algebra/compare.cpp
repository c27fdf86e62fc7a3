// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Changes are told of the run as a whole, and of each function, construct or call by its name:
// those are the same in different builds.

#include "blame/algebra/compare.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>

#include "base/glob.h"
#include "base/result.h"
#include "base/student.h"
#include "blame/algebra/combine.h"

namespace culprit::blame {
namespace {

/// Of a function more than this part of the larger run's allocated time is told.
constexpr double kLeastChange = 1e-4;

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Variance of the mean.
double variance_of_mean(std::span<const double> values) {
  const double middle = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  const auto n = static_cast<double>(values.size());
  return squares / (n - 1) / n;
}

using Values = std::vector<double>;  ///< of one figure, a run each

FoundChange change_of(ChangedFigure figure, const std::string& region, const Values& before,
                      const Values& after) {
  FoundChange row;
  row.figure = figure;
  row.region = region;
  row.before_s = mean(before);
  row.after_s = mean(after);
  row.noise_s = noise_of_difference(before, after);
  row.exceeds_noise = row.noise_s >= 0 && std::abs(row.after_s - row.before_s) > row.noise_s;
  return row;
}

/// A figure of each run by region.
using ByRegion = std::map<std::string, Values>;

template <class Rows, class Size>
void add(const Findings& run, const Rows& rows, size_t at, size_t runs, const Size& size,
         ByRegion& sums) {
  for (const auto& row : rows) {
    if (!row.callpath.valid()) continue;
    Values& values = sums[run.callpaths[row.callpath.index()].region];
    values.resize(runs);
    values[at] += size(row);
  }
}

ByRegion sums_of(std::span<const Findings* const> runs, ChangedFigure figure) {
  ByRegion sums;
  for (size_t i = 0; i < runs.size(); ++i) {
    const Findings& run = *runs[i];
    const auto time = [](const auto& row) { return row.time_s; };
    const auto cost = [](const FoundDelay& row) { return row.short_s + row.long_s; };
    if (figure == ChangedFigure::time) add(run, run.profile, i, runs.size(), time, sums);
    if (figure == ChangedFigure::waiting) add(run, run.waits, i, runs.size(), time, sums);
    if (figure == ChangedFigure::delay) add(run, run.delays, i, runs.size(), cost, sums);
    if (figure == ChangedFigure::critical) add(run, run.critical_path, i, runs.size(), time, sums);
  }
  return sums;
}

double of_whole(const Findings& run, ChangedFigure figure) {
  switch (figure) {
    case ChangedFigure::wall:
      return run.run.wall_s;
    case ChangedFigure::time:
      return run.run.allocation_s;
    case ChangedFigure::waiting:
      return run.identities.waiting_s;
    case ChangedFigure::delay:
    case ChangedFigure::critical:
      break;
  }
  CULPRIT_CHECK(!"a figure of functions alone");
  return 0;
}

/// Of each run: of the whole, or of all regions whose names are like `glob` together.
Values values_of(std::span<const Findings* const> runs, ChangedFigure figure,
                 std::string_view glob) {
  Values values(runs.size());
  if (glob.empty()) {
    for (size_t i = 0; i < runs.size(); ++i) values[i] = of_whole(*runs[i], figure);
    return values;
  }
  for (const auto& [region, of_region] : sums_of(runs, figure)) {
    if (!matches_glob(glob, region)) continue;
    for (size_t i = 0; i < runs.size(); ++i) values[i] += of_region[i];
  }
  return values;
}

std::vector<FoundChange> changes_of(std::span<const Findings* const> before,
                                    std::span<const Findings* const> after) {
  std::vector<FoundChange> changes;
  for (const ChangedFigure figure :
       {ChangedFigure::wall, ChangedFigure::time, ChangedFigure::waiting}) {
    changes.push_back(change_in(before, after, figure, ""));
  }
  const double least = kLeastChange * std::max(changes[1].before_s, changes[1].after_s);
  std::vector<FoundChange> of_regions;
  for (const ChangedFigure figure : {ChangedFigure::time, ChangedFigure::waiting,
                                     ChangedFigure::delay, ChangedFigure::critical}) {
    ByRegion sums = sums_of(before, figure), later = sums_of(after, figure);
    for (const auto& [region, values] : later) sums.try_emplace(region, Values(before.size()));
    for (auto& [region, values] : sums) {
      Values& others = later.try_emplace(region, Values(after.size())).first->second;
      const FoundChange row = change_of(figure, region, values, others);
      if (std::abs(row.after_s - row.before_s) > least) of_regions.push_back(row);
    }
  }
  std::stable_sort(of_regions.begin(), of_regions.end(),
                   [](const FoundChange& a, const FoundChange& b) {
                     return std::abs(a.after_s - a.before_s) > std::abs(b.after_s - b.before_s);
                   });
  changes.insert(changes.end(), of_regions.begin(), of_regions.end());
  return changes;
}

}  // namespace

FoundChange change_in(std::span<const Findings* const> before,
                      std::span<const Findings* const> after, ChangedFigure figure,
                      std::string_view glob) {
  return change_of(figure, std::string(glob), values_of(before, figure, glob),
                   values_of(after, figure, glob));
}

double noise_of_difference(std::span<const double> before, std::span<const double> after) {
  if (before.size() < 2 || after.size() < 2) return -1;
  const double a = variance_of_mean(before), b = variance_of_mean(after);
  if (a + b <= 0) return 0;
  const double degrees = (a + b) * (a + b) /
                         (a * a / static_cast<double>(before.size() - 1) +
                          b * b / static_cast<double>(after.size() - 1));
  return student_quantile(0.975, degrees) * std::sqrt(a + b);
}

Findings difference(std::span<const Findings* const> before, std::span<const Findings* const> after,
                    std::span<const std::string> names) {
  std::vector<WeightedFindings> weighted;
  for (const Findings* run : before) {
    weighted.push_back({run, -1.0 / static_cast<double>(before.size())});
  }
  for (const Findings* run : after) {
    weighted.push_back({run, 1.0 / static_cast<double>(after.size())});
  }
  Findings out = combine(weighted);
  out.run.operation = Operation::diff;
  for (size_t i = 0; i < weighted.size(); ++i) {
    const RunInfo& run = weighted[i].findings->run;
    out.inputs.push_back({names[i], i < before.size() ? InputRole::before : InputRole::after,
                          run.command, run.ranks, run.locations, run.wall_s, run.allocation_s,
                          weighted[i].findings->identities.waiting_s});
  }
  out.changes = changes_of(before, after);
  std::vector<const Findings*> all(before.begin(), before.end());
  all.insert(all.end(), after.begin(), after.end());
  if (std::string sentence = unlike(all, true); !sentence.empty()) {
    out.run.notes.push_back(std::move(sentence));
  }
  return out;
}

bool has_region(std::span<const Findings* const> runs, std::string_view glob) {
  return std::any_of(runs.begin(), runs.end(), [&](const Findings* run) {
    return std::any_of(run->callpaths.begin(), run->callpaths.end(),
                       [&](const FoundCallPath& path) { return matches_glob(glob, path.region); });
  });
}

}  // namespace culprit::blame
