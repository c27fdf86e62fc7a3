// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Series are modelled in parallel, independently; then they are sorted by their value at the
// target, and the best next run is searched.
#include "predict/model/model_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/parallel.h"
#include "predict/model/fit.h"
#include "predict/model/next_run.h"

namespace culprit::predict {
namespace {

using blame::Findings;
using blame::FoundModel;
using blame::FoundModelId;
using blame::ModelledFigure;

/// A series with its model.
struct Modelled {
  const Series* series;
  Model model;
  double base = 0;
  Prediction prediction;
};

/// The measured points, of all series.
std::vector<Point> points_of(const Measurements& measurements) {
  std::set<Point> all;
  for (const Series& series : measurements.series) {
    for (const Sample& sample : series.samples) all.insert(sample.point);
  }
  return {all.begin(), all.end()};
}

double largest(const std::vector<Point>& points, size_t parameter) {
  double most = 0;
  for (const Point& point : points) most = std::max(most, point[parameter]);
  return most;
}

double smallest(const std::vector<Point>& points, size_t parameter) {
  double least = points.front()[parameter];
  for (const Point& point : points) least = std::min(least, point[parameter]);
  return least;
}

Result<Point> target_of(const Measurements& measurements, const std::vector<Point>& points,
                        const std::map<std::string, double>& wished) {
  Point target;
  for (size_t p = 0; p < measurements.parameters.size(); ++p) {
    target.push_back(largest(points, p) * (p == 0 && wished.empty() ? kDefaultReach : 1));
  }
  for (const auto& [name, value] : wished) {
    const auto at = std::find(measurements.parameters.begin(), measurements.parameters.end(), name);
    if (at == measurements.parameters.end()) {
      return Error{
          fmt::format("nothing can be predicted for {}: these runs do not differ in it", name)};
    }
    const bool counts = name == kRanks || name == kThreads;
    if (!(value > 0) || (counts && value != std::floor(value))) {
      return Error{fmt::format("{} cannot be {}", name, value)};
    }
    const auto p = static_cast<size_t>(at - measurements.parameters.begin());
    if (const double least = smallest(points, p); value < 1 && least >= 1) {
      return Error{fmt::format(
          "{} {} lies below all that was measured ({:g} and more), where logarithms fall below 0",
          name, value, least)};
    }
    target[p] = value;
  }
  return target;
}

std::vector<Modelled> fit_all(const Measurements& measurements, const Point& base,
                              const Point& target, unsigned threads) {
  std::vector<std::optional<Model>> models(measurements.series.size());
  parallel_for(
      models.size(), threads, [] { return 0; },
      [&](size_t i, int) { models[i] = fit(measurements.series[i].samples); });
  std::vector<Modelled> all;
  for (size_t i = 0; i < models.size(); ++i) {
    if (!models[i]) continue;
    Modelled each{&measurements.series[i], std::move(*models[i]), 0, {}};
    each.base = value(each.model.formula, base);
    each.prediction = predict(each.model, target);
    all.push_back(std::move(each));
  }
  const auto place = [](const Modelled& each) {  // visits have no seconds
    return each.series->figure == ModelledFigure::wall     ? 0
           : each.series->figure == ModelledFigure::visits ? 2
                                                           : 1;
  };
  const auto growth = [](const Modelled& each) { return each.prediction.expected - each.base; };
  std::stable_sort(all.begin(), all.end(), [&](const Modelled& a, const Modelled& b) {
    return std::pair(place(a), -growth(a)) < std::pair(place(b), -growth(b));
  });
  return all;
}

std::string words_of(const Shape& shape, size_t parameter, std::span<const std::string> names) {
  if (shape == Shape{}) return "1";
  return text(Term{{parameter, shape}}, names);
}

FoundModel row_of(const Modelled& each, std::span<const std::string> names) {
  FoundModel row;
  row.figure = each.series->figure;
  row.metric = each.series->metric;
  row.callpath = each.series->callpath;
  row.pattern = each.series->pattern;
  row.formula = text(each.model.formula, names);
  row.base = each.base;
  row.expected = each.prediction.expected;
  row.low = each.prediction.low;
  row.high = each.prediction.high;
  row.error_pct = each.model.error * 100;
  row.adjusted_r2 = each.model.adjusted_r2;
  row.noise_pct = each.model.noise_share < 0 ? -1 : each.model.noise_share * 100;
  return row;
}

void add_terms(FoundModelId id, const Formula& formula, std::span<const std::string> names,
               Findings& out) {
  out.model_terms.push_back({id, 0, formula.constant, "", 0, 0});
  for (size_t t = 0; t < formula.terms.size(); ++t) {
    for (const Factor& factor : formula.terms[t]) {
      out.model_terms.push_back({id, static_cast<uint32_t>(t + 1), formula.coefficients[t],
                                 names[factor.parameter], factor.shape.exponent(),
                                 static_cast<uint32_t>(factor.shape.logarithms)});
    }
  }
}

void add_model(const Modelled& each, std::span<const std::string> names, Findings& out) {
  const FoundModelId id(out.models.size());
  out.models.push_back(row_of(each, names));
  add_terms(id, each.model.formula, names, out);
  for (size_t p = 0; p < names.size(); ++p) {
    const auto [slowest, fastest] = leads(each.model, p);
    out.model_leads.push_back({id, names[p], each.model.effects[p], words_of(slowest, p, names),
                               words_of(fastest, p, names)});
  }
}

/// Among many figures some seem to depend on anything by chance: the more there are, the more
/// significant a single one must be (Bonferroni). The run time is tested separately.
bool affects_any(const std::vector<Modelled>& all, size_t parameter) {
  const double sure = 1 - (1 - kConfidence) / static_cast<double>(all.size());
  return std::any_of(all.begin(), all.end(), [&](const Modelled& each) {
    const bool whole = each.series->figure == ModelledFigure::wall;
    return each.model.effects[parameter] > (whole ? 0.5 : sure);
  });
}

void add_parameters(const Measurements& measurements, const std::vector<Point>& points,
                    const Point& target, const std::vector<Modelled>& all, Findings& out) {
  for (size_t p = 0; p < measurements.parameters.size(); ++p) {
    std::set<double> values;
    for (const Point& point : points) values.insert(point[p]);
    out.model_parameters.push_back({measurements.parameters[p], *values.begin(), *values.rbegin(),
                                    values.size(), target[p], affects_any(all, p)});
  }
}

/// Adds the next runs for the predictions of time, which over all call paths add up to the run
/// time.
void add_next(const Measurements& measurements, const std::vector<Modelled>& all,
              const Point& target, Findings& out) {
  std::vector<const Model*> models;
  const Model* run_time = nullptr;
  for (const Modelled& each : all) {
    if (each.series->figure == ModelledFigure::wall) run_time = &each.model;
    if (each.series->figure == ModelledFigure::time) models.push_back(&each.model);
  }
  if (run_time == nullptr || !measurements.machine) return;
  for (const NextRun& run : next_runs(models, *run_time, *measurements.machine, target)) {
    std::string point;
    for (size_t p = 0; p < run.point.size(); ++p) {
      point +=
          fmt::format("{}{}={:.6g}", p > 0 ? ", " : "", measurements.parameters[p], run.point[p]);
    }
    out.next_runs.push_back({point, run.gain, run.cost_s});
  }
}

}  // namespace

Result<Findings> model_runs(const Measurements& measurements, const ModelOptions& wishes) {
  if (measurements.series.empty()) {
    return Error{
        "no model can be made: each figure is too small, or was measured at too few points to tell "
        "what each parameter does"};
  }
  const std::vector<Point> points = points_of(measurements);
  const auto target = target_of(measurements, points, wishes.targets);
  if (!target) return target.error();
  Point base;
  for (size_t p = 0; p < measurements.parameters.size(); ++p) base.push_back(largest(points, p));
  const std::vector<Modelled> all = fit_all(measurements, base, *target, wishes.threads);
  if (all.empty()) {
    return Error{"no model can be made: each figure has values below 0, or is 0 everywhere"};
  }
  Findings out;
  out.run.operation = blame::Operation::model;
  if (const size_t none = measurements.series.size() - all.size(); none > 0) {
    out.run.notes.push_back(
        fmt::format("{} of {} figures have values below 0, or nothing but 0: no models are made of "
                    "them.",
                    none, measurements.series.size()));
  }
  out.callpaths = measurements.callpaths;
  add_parameters(measurements, points, *target, all, out);
  for (const Modelled& each : all) add_model(each, measurements.parameters, out);
  if (wishes.next) add_next(measurements, all, *target, out);
  return out;
}

}  // namespace culprit::predict
