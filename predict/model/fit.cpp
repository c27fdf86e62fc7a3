// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See fit.h. Sizes, by which noise is judged, are those of the formula found, so it takes rounds.

#include "predict/model/fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "predict/model/hypotheses.h"
#include "predict/model/least_squares.h"

namespace culprit::predict {
namespace {

constexpr int kRounds = 2;
constexpr double kExact = 1e-14;      ///< relative squares of a value that are rounding, not noise
constexpr double kNegligible = 1e-4;  ///< hypotheses of less probability are dropped
/// Shapes of each parameter that are combined with those of others, by number of parameters.
constexpr size_t kCombined[] = {0, 0, 6, 2};

using Columns = std::vector<std::vector<double>>;

/// The samples as numbers, by point.
struct Data {
  std::span<const Sample> samples;
  std::vector<double> means, weights;
  Noise noise;
  double runs = 0;

  Data(std::span<const Sample> all, std::span<const double> sizes)
      : samples(all), noise(noise_of(all, sizes)) {
    for (size_t i = 0; i < samples.size(); ++i) {
      const auto count = static_cast<double>(samples[i].values.size());
      means.push_back(mean(samples[i]));
      weights.push_back(count / noise.variance(sizes[i]));
      runs += count;
    }
  }
};

std::vector<double> column_of(const Term& term, std::span<const Sample> samples) {
  std::vector<double> column;
  for (const Sample& sample : samples) column.push_back(value(term, sample.point));
  return column;
}

/// A candidate that was fitted.
struct Tried {
  Hypothesis hypothesis;
  double prior = 0, squares = 0;
  double columns = 0;
};

/// Terms that grow must cost something, or they would end in times below 0; so must what is left
/// of shrinking ones.
enum class Sense { fine, constant_below_zero, none };

Sense sense_of(const std::vector<Term>& terms, const Fit& fit, size_t constants,
               const Columns& columns, const Data& data) {
  bool any_grows = false;
  for (size_t i = 0; i < terms.size(); ++i) {
    const double coefficient = fit.coefficients[i + constants];
    any_grows |= grows(terms[i]);
    if (grows(terms[i]) && coefficient <= 0) return Sense::none;
    double most = 0;
    for (size_t j = 0; j < data.means.size(); ++j) {
      const double size = std::max(std::abs(data.means[j]), data.noise.floor);
      most = std::max(most, std::abs(coefficient * columns[i + constants][j] / size));
    }
    if (most < kLeastContribution) return Sense::none;
  }
  const bool below = constants > 0 && !terms.empty() && !any_grows && fit.coefficients[0] < 0;
  return below ? Sense::constant_below_zero : Sense::fine;
}

std::optional<Tried> attempt(const CandidateForm& candidate, const Data& data) {
  Columns columns = {std::vector<double>(data.means.size(), 1.0)};
  for (const Term& term : candidate.terms) columns.push_back(column_of(term, data.samples));
  size_t constants = 1;
  auto fit = least_squares(columns, data.means, data.weights);
  if (!fit || columns.size() >= data.means.size()) return std::nullopt;
  Sense sense = sense_of(candidate.terms, *fit, constants, columns, data);
  if (sense == Sense::constant_below_zero) {
    columns.erase(columns.begin());
    constants = 0;
    fit = least_squares(columns, data.means, data.weights);
    if (!fit) return std::nullopt;
    sense = sense_of(candidate.terms, *fit, constants, columns, data);
  }
  if (sense != Sense::fine) return std::nullopt;
  Tried tried;
  Formula& formula = tried.hypothesis.formula;
  formula.terms = candidate.terms;
  if (constants > 0) formula.constant = fit->coefficients[0];
  formula.coefficients.assign(fit->coefficients.begin() + static_cast<std::ptrdiff_t>(constants),
                              fit->coefficients.end());
  tried.hypothesis.has_constant = constants > 0;
  tried.hypothesis.covariance = fit->inverse;
  tried.prior = candidate.prior;
  tried.squares = fit->squares;
  tried.columns = static_cast<double>(columns.size());
  return tried;
}

/// How much larger the squares between points are than repeats explain, by the formula that fits
/// best: the factor by which all are to be divided (R. T. Birge: The calculation of errors by the
/// method of least squares, Physical Review 40, 1932).
double inflation_of(const std::vector<Tried>& all, const Data& data) {
  double least = std::numeric_limits<double>::infinity();
  for (const Tried& each : all) {
    least = std::min(least, each.squares / (static_cast<double>(data.means.size()) - each.columns));
  }
  if (data.noise.degrees <= 0) return 1;
  const double scale = data.noise.squares / data.noise.degrees;
  return std::max(1.0, least / std::max(scale, kExact));
}

/// Fills in what the squares say, and makes weights probabilities (the likelihood by the scale that
/// fits best, with Schwarz's penalty for coefficients: Annals of Statistics 6, 1978).
std::vector<Hypothesis> weigh(std::vector<Tried> all, const Data& data) {
  const double inflation = inflation_of(all, data), points = static_cast<double>(data.means.size());
  std::vector<double> logarithms;
  for (Tried& each : all) {
    const double squares = data.noise.squares + each.squares / inflation + kExact * data.runs;
    const double left = data.runs - each.columns;
    logarithms.push_back(std::log(each.prior) - left / 2 * std::log(squares) -
                         each.columns / 2 * std::log(data.runs));
    Hypothesis& made = each.hypothesis;
    made.scale = squares / left;
    made.misfit = made.scale * (inflation - 1) * points / data.runs;
    made.degrees = inflation > 1 ? points - each.columns : left;
    for (double& element : made.covariance) element *= made.scale * inflation;
  }
  const double most = *std::max_element(logarithms.begin(), logarithms.end());
  double sum = 0;
  for (double& each : logarithms) sum += each = std::exp(each - most);
  std::vector<Hypothesis> hypotheses;
  double kept = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].hypothesis.weight = logarithms[i] / sum;
    if (all[i].hypothesis.weight < kNegligible) continue;
    kept += all[i].hypothesis.weight;
    hypotheses.push_back(std::move(all[i].hypothesis));
  }
  for (Hypothesis& each : hypotheses) each.weight /= kept;
  std::stable_sort(hypotheses.begin(), hypotheses.end(),
                   [](const auto& a, const auto& b) { return a.weight > b.weight; });
  return hypotheses;
}

/// Which parameters a formula has, as bits.
unsigned parameters_of(const Formula& formula) {
  unsigned set = 0;
  for (const Term& term : formula.terms) {
    for (const Factor& factor : term) set |= 1u << factor.parameter;
  }
  return set;
}

/// The likeliest formula with the likeliest parameters.
const Formula& choose(const std::vector<Hypothesis>& hypotheses) {
  std::map<unsigned, double> weights;
  for (const Hypothesis& each : hypotheses) weights[parameters_of(each.formula)] += each.weight;
  const auto best =
      std::max_element(weights.begin(), weights.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return std::find_if(
             hypotheses.begin(), hypotheses.end(),
             [&](const Hypothesis& each) { return parameters_of(each.formula) == best->first; })
      ->formula;
}

/// Squares that a shape leaves on the lines on which only its parameter changes, each with a
/// constant and a coefficient of its own.
double squares_on_lines(size_t parameter, const Shape& shape, const Data& data) {
  std::map<Point, std::vector<size_t>> lines;
  for (size_t i = 0; i < data.samples.size(); ++i) {
    Point others = data.samples[i].point;
    others[parameter] = 0;
    lines[others].push_back(i);
  }
  double sum = 0;
  for (const auto& [others, members] : lines) {
    if (members.size() < 3) continue;
    Columns columns(2);
    std::vector<double> values, weights;
    for (const size_t i : members) {
      columns[0].push_back(1);
      columns[1].push_back(value(shape, data.samples[i].point[parameter]));
      values.push_back(data.means[i]);
      weights.push_back(data.weights[i]);
    }
    const auto fit = least_squares(columns, values, weights);
    if (!fit) return std::numeric_limits<double>::infinity();
    sum += fit->squares;
  }
  return sum;
}

/// Shapes that are worth trying of each parameter.
std::vector<std::vector<Shape>> promising(const Data& data) {
  const size_t parameters = data.samples.front().point.size();
  std::vector<std::vector<Shape>> all(parameters);
  for (size_t p = 0; p < parameters; ++p) {
    bool logarithms = true;
    for (const Sample& sample : data.samples) logarithms &= sample.point[p] >= 1;
    std::vector<std::pair<double, Shape>> rated;
    for (const Shape& shape : shapes()) {
      if (shape.logarithms > 0 && !logarithms) continue;
      rated.emplace_back(parameters == 1 ? 0 : squares_on_lines(p, shape, data), shape);
    }
    std::stable_sort(rated.begin(), rated.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    if (parameters > 1) rated.resize(std::min(rated.size(), kCombined[parameters]));
    for (const auto& [squares, shape] : rated) all[p].push_back(shape);
  }
  return all;
}

std::vector<Hypothesis> hypotheses_of(const Data& data) {
  std::vector<Tried> all;
  for (const CandidateForm& candidate : candidates(promising(data))) {
    if (auto tried = attempt(candidate, data)) all.push_back(std::move(*tried));
  }
  return weigh(std::move(all), data);
}

/// Each point is predicted from the others, by the same terms.
double cross_validated(const Formula& formula, const Data& data) {
  double sum = 0, points = 0;
  for (size_t out = 0; out < data.means.size(); ++out) {
    Columns columns(1 + formula.terms.size());
    std::vector<double> values, weights;
    for (size_t i = 0; i < data.means.size(); ++i) {
      if (i == out) continue;
      columns[0].push_back(1);
      for (size_t t = 0; t < formula.terms.size(); ++t) {
        columns[t + 1].push_back(value(formula.terms[t], data.samples[i].point));
      }
      values.push_back(data.means[i]);
      weights.push_back(data.weights[i]);
    }
    const auto fit = least_squares(columns, values, weights);
    if (!fit) continue;
    double predicted = fit->coefficients[0];
    for (size_t t = 0; t < formula.terms.size(); ++t) {
      predicted += fit->coefficients[t + 1] * value(formula.terms[t], data.samples[out].point);
    }
    const double both = std::abs(predicted) + std::abs(data.means[out]);
    if (both > 0) sum += 2 * std::abs(predicted - data.means[out]) / both;
    ++points;
  }
  return points > 0 ? sum / points : 0;
}

double adjusted_r2(const Formula& formula, std::span<const Sample> samples) {
  if (formula.terms.empty()) return 0;
  double runs = 0, sum = 0, left = 0, around = 0;
  for (const Sample& sample : samples) {
    for (const double each : sample.values) ++runs, sum += each;
  }
  for (const Sample& sample : samples) {
    const double fitted = value(formula, sample.point);
    for (const double each : sample.values) {
      left += (each - fitted) * (each - fitted);
      around += (each - sum / runs) * (each - sum / runs);
    }
  }
  const double degrees = runs - static_cast<double>(formula.terms.size()) - 1;
  return around > 0 && degrees > 0 ? 1 - left / around * (runs - 1) / degrees : 0;
}

/// Returns the size by which the noise of a sample is judged: the formula's value, unless that is
/// far from the measured one, since noise relative to nearly zero would be endless. Where zero was
/// measured, a part of the largest sample: another zero is not that certain.
double size_of(const Formula* formula, const Sample& sample, double largest) {
  constexpr double kFar = 10, kOfNothing = 0.05;
  const double middle = mean(sample);
  if (middle == 0) return kOfNothing * largest;
  if (formula == nullptr) return middle;
  return std::clamp(value(*formula, sample.point), middle / kFar, middle * kFar);
}

}  // namespace

std::optional<Model> fit(std::span<const Sample> samples) {
  double most = 0;
  for (const Sample& sample : samples) {
    if (*std::min_element(sample.values.begin(), sample.values.end()) < 0) return std::nullopt;
    most = std::max(most, mean(sample));
  }
  if (samples.size() < kLeastPoints || most == 0) return std::nullopt;
  std::vector<double> sizes;
  for (const Sample& sample : samples) sizes.push_back(size_of(nullptr, sample, most));
  Model model;
  for (int round = 0; round < kRounds; ++round) {
    const Data data(samples, sizes);
    model.hypotheses = hypotheses_of(data);
    model.formula = choose(model.hypotheses);
    model.noise = data.noise;
    model.error = cross_validated(model.formula, data);
    for (size_t i = 0; i < sizes.size(); ++i) {
      sizes[i] = size_of(&model.formula, samples[i], most);
    }
  }
  for (const Sample& sample : samples) model.points.push_back(sample.point);
  model.effects.resize(samples.front().point.size());
  for (const Hypothesis& each : model.hypotheses) {
    const unsigned set = parameters_of(each.formula);
    for (size_t p = 0; p < model.effects.size(); ++p) {
      if ((set >> p & 1) != 0) model.effects[p] += each.weight;
    }
  }
  const double largest = *std::max_element(sizes.begin(), sizes.end());
  model.noise_share =
      model.noise.degrees > 0
          ? std::sqrt(model.noise.squares / model.noise.degrees * model.noise.variance(largest)) /
                largest
          : -1;
  model.adjusted_r2 = adjusted_r2(model.formula, samples);
  return model;
}

}  // namespace culprit::predict
