// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Sampling, moments and quantiles of each shape. Means are exact, those of a normal distribution
// that is cut at zero too: m P(m/s) + s p(m/s), with P and p the standard normal distribution and
// density.
#include "predict/machine/distribution.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/statistics.h"

namespace culprit::predict {
namespace {

constexpr size_t kGroups = 192;  // into which the many small samples are put
constexpr size_t kAlone = 64;    // the largest, which are not put together

template <class... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Match(Cases...) -> Match<Cases...>;

double mean_of(const Normal& normal) {
  const double m = normal.mean_ns, s = normal.deviation_ns;
  if (s <= 0) return std::max(m, 0.0);
  const double x = m / s;
  return m * normal_probability(x) + s * std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
}

double mean_of(const Empirical& all) {
  double sum = 0, count = 0;
  for (size_t i = 0; i < all.values_ns.size(); ++i) {
    sum += all.values_ns[i] * static_cast<double>(all.counts[i]);
    count += static_cast<double>(all.counts[i]);
  }
  return count > 0 ? sum / count : 0;
}

/// Groups ascending samples: equal ones, and neighbours where there are many.
Empirical grouped(const std::vector<double>& sorted) {
  Empirical result;
  const auto add = [&](double value, uint64_t count) {
    if (!result.values_ns.empty() && result.values_ns.back() == value) {
      result.counts.back() += count;
      return;
    }
    result.values_ns.push_back(value);
    result.counts.push_back(count);
  };
  const bool few = sorted.size() <= kGroups + kAlone;
  const size_t many = few ? 0 : sorted.size() - kAlone;
  for (size_t group = 0; group < (few ? 0 : kGroups); ++group) {
    const size_t from = many * group / kGroups, to = many * (group + 1) / kGroups;
    double sum = 0;
    for (size_t i = from; i < to; ++i) sum += sorted[i];
    const auto count = static_cast<double>(to - from);
    const double mean = sorted[from] == sorted[to - 1] ? sorted[from] : sum / count;
    add(mean, to - from);
  }
  for (size_t i = many; i < sorted.size(); ++i) add(sorted[i], 1);
  return result;
}

}  // namespace

Distribution::Distribution(Shape shape) : shape_(std::move(shape)) {
  if (const auto* all = std::get_if<Empirical>(&shape_)) {
    CULPRIT_CHECK(all->values_ns.size() == all->counts.size());
    uint64_t sum = 0;
    for (const uint64_t count : all->counts) upto_.push_back(sum += count);
  }
}

Distribution Distribution::of(std::vector<double> samples_ns) {
  if (samples_ns.empty()) return {};
  std::sort(samples_ns.begin(), samples_ns.end());
  return Distribution(grouped(samples_ns));
}

Duration Distribution::sample(Rng& rng) const {
  const double ns = std::visit(
      Match{[](const Constant& c) { return c.value_ns; },
            [&](const Uniform& u) { return u.from_ns + (u.to_ns - u.from_ns) * rng.uniform(); },
            [&](const Normal& n) { return n.mean_ns + n.deviation_ns * rng.normal(); },
            [&](const Exponential& e) { return e.mean_ns * rng.exponential(); },
            [&](const Empirical& all) {
              if (upto_.empty() || upto_.back() == 0) return 0.0;
              const double at = rng.uniform() * static_cast<double>(upto_.back());
              const auto found =
                  std::upper_bound(upto_.begin(), upto_.end(), static_cast<uint64_t>(at));
              return all.values_ns[static_cast<size_t>(found - upto_.begin())];
            }},
      shape_);
  return Duration::from_nanos(std::llround(std::max(ns, 0.0)));
}

double Distribution::mean_ns() const {
  return std::visit(Match{[](const Constant& c) { return c.value_ns; },
                          [](const Uniform& u) { return (u.from_ns + u.to_ns) / 2; },
                          [](const Normal& n) { return mean_of(n); },
                          [](const Exponential& e) { return e.mean_ns; },
                          [](const Empirical& all) { return mean_of(all); }},
                    shape_);
}

double Distribution::quantile_ns(double share) const {
  const double ns = std::visit(
      Match{[](const Constant& c) { return c.value_ns; },
            [&](const Uniform& u) { return u.from_ns + (u.to_ns - u.from_ns) * share; },
            [&](const Normal& n) {
              return n.deviation_ns > 0 ? n.mean_ns + n.deviation_ns * normal_quantile(share)
                                        : n.mean_ns;
            },
            [&](const Exponential& e) {
              return e.mean_ns > 0 ? -e.mean_ns * std::log1p(-share) : 0.0;
            },
            [&](const Empirical& all) {
              if (upto_.empty()) return 0.0;
              const double wanted = std::ceil(share * static_cast<double>(upto_.back()));
              const auto found = std::lower_bound(
                  upto_.begin(), upto_.end(), std::max<uint64_t>(1, static_cast<uint64_t>(wanted)));
              const auto place = static_cast<size_t>(found - upto_.begin());
              return all.values_ns[std::min(place, upto_.size() - 1)];
            }},
      shape_);
  return std::max(ns, 0.0);
}

uint64_t Distribution::samples() const {
  return upto_.empty() ? 0 : upto_.back();
}

Distribution Distribution::times(double factor) const {
  Shape shape = shape_;
  std::visit(Match{[&](Constant& c) { c.value_ns *= factor; },
                   [&](Uniform& u) { u.from_ns *= factor, u.to_ns *= factor; },
                   [&](Normal& n) { n.mean_ns *= factor, n.deviation_ns *= factor; },
                   [&](Exponential& e) { e.mean_ns *= factor; },
                   [&](Empirical& all) {
                     for (double& value : all.values_ns) value *= factor;
                   }},
             shape);
  return Distribution(std::move(shape));
}

double Noise::share() const {
  const double lost = per_second_of_work * length.mean_ns() * 1e-9;  // per second of work
  return lost / (1 + lost);
}

Duration sample_noise(const Noise& noise, Rng& rng, Duration work) {
  Duration lost;
  if (!(noise.per_second_of_work > 0)) return lost;
  const double until = work.seconds() * noise.per_second_of_work;
  for (double at = rng.exponential(); at < until; at += rng.exponential()) {
    lost += noise.length.sample(rng);
  }
  return lost;
}

}  // namespace culprit::predict
