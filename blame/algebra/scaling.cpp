// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Losses of all call paths add up to that of the run, since their allocated times do.

#include "blame/algebra/scaling.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "blame/algebra/compare.h"
#include "blame/algebra/integrate.h"

namespace culprit::blame {
namespace {

/// A loss is listed if it exceeds this part of the larger runs' allocated time.
constexpr double kLeastLoss = 1e-4;

/// The times of one call path, in each run.
struct Times {
  std::vector<double> all, waiting, delay;
};
using ByPath = std::map<CallPathId, Times>;

ByPath times_of(std::span<const Findings* const> runs, std::span<const CommonIds> ids) {
  ByPath times;
  for (size_t i = 0; i < runs.size(); ++i) {
    const auto place = [&](CallPathId path) -> Times& {
      Times& at = times[ids[i](path)];
      for (auto* values : {&at.all, &at.waiting, &at.delay}) values->resize(runs.size());
      return at;
    };
    for (const FoundProfile& row : runs[i]->profile) place(row.callpath).all[i] += row.time_s;
    for (const FoundWait& row : runs[i]->waits) place(row.callpath).waiting[i] += row.time_s;
    for (const FoundDelay& row : runs[i]->delays) {
      place(row.callpath).delay[i] += row.short_s + row.long_s;
    }
  }
  return times;
}

Times whole(std::span<const Findings* const> runs) {
  Times times;
  for (const Findings* run : runs) {
    times.all.push_back(run->run.allocation_s);
    times.waiting.push_back(run->identities.waiting_s);
    times.delay.push_back(run->identities.delay_costs_s);
  }
  return times;
}

double mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// The time of the smaller runs times `factor` is the ideal time of the larger runs.
FoundScalingLoss row_of(Scaling scaling, CallPathId path, Times before, const Times& after,
                        double factor) {
  for (auto* values : {&before.all, &before.waiting, &before.delay}) {
    for (double& each : *values) each *= factor;
  }
  FoundScalingLoss row;
  row.scaling = scaling;
  row.callpath = path;
  row.ideal_s = mean(before.all);
  row.after_s = mean(after.all);
  row.waiting_s = mean(after.waiting) - mean(before.waiting);
  row.delay_s = mean(after.delay) - mean(before.delay);
  row.noise_s = noise_of_difference(before.all, after.all);
  row.exceeds_noise = row.noise_s >= 0 && std::abs(row.after_s - row.ideal_s) > row.noise_s;
  return row;
}

Result<void> check(std::span<const Findings* const> runs, const std::string& program) {
  for (const Findings* run : runs) {
    if (run->run.program != program) {
      return Error{"these are runs of different programs: '" + program + "' and '" +
                   run->run.program + "'"};
    }
    if (run->run.locations != runs.front()->run.locations) {
      return Error{"repeats must have the same number of threads: compare others in pairs"};
    }
    for (const auto& [name, loss] : run->losses.all()) {
      if (loss.severity != Severity::data_loss) continue;
      return Error{"a run is incomplete, so what it lost by scaling cannot be told: " +
                   loss.advice};
    }
  }
  return {};
}

/// Call paths of runs by those of `found`, which were made of the same runs in the same order.
std::vector<CommonIds> ids_of(std::span<const Findings* const> before,
                              std::span<const Findings* const> after) {
  std::vector<const Findings*> all(before.begin(), before.end());
  all.insert(all.end(), after.begin(), after.end());
  return integrate(all).inputs;
}

}  // namespace

Result<void> add_scaling_losses(std::span<const Findings* const> before,
                                std::span<const Findings* const> after, Scaling scaling,
                                Findings& found) {
  const std::string& program = before.front()->run.program;
  if (auto good = check(before, program); !good) return good;
  if (auto good = check(after, program); !good) return good;
  const double fewer = before.front()->run.locations, more = after.front()->run.locations;
  if (fewer >= more) {
    return Error{"the runs after must have more threads than those before: nothing was scaled up"};
  }
  const double factor = scaling == Scaling::weak ? more / fewer : 1;
  const std::vector<CommonIds> ids = ids_of(before, after);
  ByPath earlier = times_of(before, std::span(ids).first(before.size()));
  ByPath later = times_of(after, std::span(ids).last(after.size()));
  const FoundScalingLoss total = row_of(scaling, {}, whole(before), whole(after), factor);
  std::vector<FoundScalingLoss> rows;
  const auto resized = [](Times& times, size_t runs) -> Times& {
    for (auto* values : {&times.all, &times.waiting, &times.delay}) values->resize(runs);
    return times;
  };
  for (const auto& [path, times] : later) earlier.try_emplace(path);
  for (auto& [path, times] : earlier) {
    const FoundScalingLoss row = row_of(scaling, path, resized(times, before.size()),
                                        resized(later[path], after.size()), factor);
    const double size = std::max(std::abs(row.after_s - row.ideal_s), std::abs(row.delay_s));
    if (size > kLeastLoss * total.after_s) rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.after_s - a.ideal_s > b.after_s - b.ideal_s;
  });
  found.scaling_losses = {total};
  found.scaling_losses.insert(found.scaling_losses.end(), rows.begin(), rows.end());
  return {};
}

}  // namespace culprit::blame
