// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Changes are listed for the run as a whole, and for each function, construct or call by its name
// on the common ground (integrate.h), since lines of constructs move from build to build.

#include "blame/algebra/compare.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <string>

#include "base/glob.h"
#include "base/result.h"
#include "base/statistics.h"
#include "blame/algebra/combine.h"
#include "blame/algebra/integrate.h"

namespace culprit::blame {
namespace {

/// A change of a function is listed if it exceeds this part of the larger run's allocated time, or,
/// for the critical path, of the larger run's length.
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

/// Runs on common ground. Names that differ only in the line are one function there, with the name
/// of the first run.
struct Compared {
  std::span<const Findings* const> before, after;
  CommonGround ground;
};

Compared on_common_ground(std::span<const Findings* const> before,
                          std::span<const Findings* const> after) {
  std::vector<const Findings*> all(before.begin(), before.end());
  all.insert(all.end(), after.begin(), after.end());
  return {before, after, integrate(all)};
}

/// Calls visit(call path of the run, seconds) for each value that the figure sums up.
template <class Visit>
void each_value(const Findings& run, ChangedFigure figure, const Visit& visit) {
  const auto times = [&](const auto& rows) {
    for (const auto& row : rows) visit(row.callpath, row.time_s);
  };
  if (figure == ChangedFigure::time) times(run.profile);
  if (figure == ChangedFigure::waiting) times(run.waits);
  if (figure == ChangedFigure::critical) times(run.critical_path);
  if (figure != ChangedFigure::delay) return;
  for (const FoundDelay& row : run.delays) visit(row.callpath, row.short_s + row.long_s);
}

/// A figure of each run by region.
using ByRegion = std::map<std::string, Values>;

/// `ids`: of these runs. Without start-up and shutdown, which differ from run to run for reasons
/// that are not the program's.
ByRegion sums_of(std::span<const Findings* const> runs, std::span<const CommonIds> ids,
                 const std::vector<FoundCallPath>& callpaths, ChangedFigure figure) {
  ByRegion sums;
  for (size_t i = 0; i < runs.size(); ++i) {
    each_value(*runs[i], figure, [&](CallPathId path, double seconds) {
      if (!path.valid() || runs[i]->callpaths[path.index()].start_up) return;
      Values& values = sums[callpaths[ids[i](path).index()].region];
      values.resize(runs.size());
      values[i] += seconds;
    });
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

Values of_whole(std::span<const Findings* const> runs, ChangedFigure figure) {
  Values values;
  for (const Findings* run : runs) values.push_back(of_whole(*run, figure));
  return values;
}

/// Returns the call paths of the common ground whose region has a name like `glob` in one of the
/// runs.
std::vector<bool> named_like(const Compared& compared, std::string_view glob) {
  std::vector<bool> named(compared.ground.callpaths.size());
  size_t input = 0;
  for (const auto& runs : {compared.before, compared.after}) {
    for (const Findings* run : runs) {
      const std::vector<CallPathId>& places = compared.ground.inputs[input++].callpaths;
      for (size_t i = 0; i < places.size(); ++i) {
        if (matches_glob(glob, run->callpaths[i].region)) named[places[i].index()] = true;
      }
    }
  }
  return named;
}

/// Returns for each run the sum over all call paths that are `wanted`. `ids`: those of these runs.
Values sums_of_paths(std::span<const Findings* const> runs, std::span<const CommonIds> ids,
                     const std::vector<bool>& wanted, ChangedFigure figure) {
  Values values(runs.size());
  for (size_t i = 0; i < runs.size(); ++i) {
    each_value(*runs[i], figure, [&](CallPathId path, double seconds) {
      if (path.valid() && wanted[ids[i](path).index()]) values[i] += seconds;
    });
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
  const double least_wall = kLeastChange * std::max(changes[0].before_s, changes[0].after_s);
  const double least_time = kLeastChange * std::max(changes[1].before_s, changes[1].after_s);
  const Compared compared = on_common_ground(before, after);
  const std::vector<FoundCallPath>& callpaths = compared.ground.callpaths;
  const std::span<const CommonIds> ids = compared.ground.inputs;
  std::vector<FoundChange> of_regions;
  for (const ChangedFigure figure : {ChangedFigure::time, ChangedFigure::waiting,
                                     ChangedFigure::delay, ChangedFigure::critical}) {
    const double least = figure == ChangedFigure::critical ? least_wall : least_time;
    ByRegion sums = sums_of(before, ids.first(before.size()), callpaths, figure);
    ByRegion later = sums_of(after, ids.last(after.size()), callpaths, figure);
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
  if (glob.empty()) return change_of(figure, "", of_whole(before, figure), of_whole(after, figure));
  const Compared compared = on_common_ground(before, after);
  const std::vector<bool> wanted = named_like(compared, glob);
  const std::span<const CommonIds> ids = compared.ground.inputs;
  return change_of(figure, std::string(glob),
                   sums_of_paths(before, ids.first(before.size()), wanted, figure),
                   sums_of_paths(after, ids.last(after.size()), wanted, figure));
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
