// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Distributions of durations: measured, or given by a formula. No sample is negative: values below
// zero count as zero, in the mean as well.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "predict/machine/random.h"

namespace culprit::predict {

struct Constant {
  double value_ns = 0;
  bool operator==(const Constant&) const = default;
};
struct Uniform {
  double from_ns = 0, to_ns = 0;
  bool operator==(const Uniform&) const = default;
};
struct Normal {
  double mean_ns = 0, deviation_ns = 0;
  bool operator==(const Normal&) const = default;
};
struct Exponential {
  double mean_ns = 0;
  bool operator==(const Exponential&) const = default;
};

/// Measured: values, ascending, and how often each was found. Of many samples those in the middle
/// stand for their neighbours (their mean), so that the mean of all is kept; the largest are kept
/// one by one, since few of them can make up most of the time.
struct Empirical {
  std::vector<double> values_ns;
  std::vector<uint64_t> counts;  ///< as many as values
  bool operator==(const Empirical&) const = default;
};

class Distribution {
 public:
  using Shape = std::variant<Constant, Uniform, Normal, Exponential, Empirical>;

  Distribution() = default;  ///< always zero
  Distribution(Shape shape);
  /// Of samples in nanoseconds, in any order; of none: always zero.
  static Distribution of(std::vector<double> samples_ns);

  Duration sample(Rng& rng) const;
  double mean_ns() const;
  /// Returns the quantile below which `share` (0 to 1) of all samples lie.
  double quantile_ns(double share) const;
  double largest_ns() const { return quantile_ns(1); }
  uint64_t samples() const;  ///< that it was measured from; 0: a formula
  const Shape& shape() const { return shape_; }

  /// Returns the distribution with every sample multiplied by `factor`, which is not negative.
  Distribution times(double factor) const;

  bool operator==(const Distribution& other) const { return shape_ == other.shape_; }

 private:
  Shape shape_ = Constant{};
  std::vector<uint64_t> upto_;  ///< of Empirical: counts added up
};

/// Noise: detours that interrupt a computing thread. The work between detours is exponentially
/// distributed, as with many independent sources of interruption.
struct Noise {
  Distribution length;              ///< of one detour
  double per_second_of_work = 0.0;  ///< how many, per second of work that gets done

  /// Returns the part of wall-clock time that is lost (0 to 1).
  double share() const;
  bool operator==(const Noise&) const = default;
};

/// Samples the time lost to noise during `work`. Equal streams of random numbers give equal
/// results.
Duration sample_noise(const Noise& noise, Rng& rng, Duration work);

/// "10us", "1.5 ms", "100ns", "2s". Error: a sentence.
Result<Duration> parse_duration(std::string_view text);

/// constant(10us), uniform(1us,5us), normal(10us,2us), exponential(10us). Error: a sentence.
Result<Distribution> parse_distribution(std::string_view text);

/// The same with a frequency: exponential(10us)@1kHz. Error: a sentence.
Result<Noise> parse_noise(std::string_view text);

/// Returns the text that parse_distribution reads; for measured distributions, their number of
/// samples, mean and maximum.
std::string to_text(const Distribution& distribution);

}  // namespace culprit::predict
