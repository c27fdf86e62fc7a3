// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "base/statistics.h"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>

namespace culprit {
namespace {

using namespace boost::math::policies;

/// Boost.Math throws by default.
using Quiet = policy<domain_error<ignore_error>, pole_error<ignore_error>,
                     overflow_error<ignore_error>, evaluation_error<ignore_error>,
                     rounding_error<ignore_error>, indeterminate_result_error<ignore_error>>;
using Student = boost::math::students_t_distribution<double, Quiet>;
using Normal = boost::math::normal_distribution<double, Quiet>;
using Binomial = boost::math::binomial_distribution<double, Quiet>;

}  // namespace

double student_probability(double t, double degrees) {
  return cdf(Student(degrees), t);
}

double student_quantile(double probability, double degrees) {
  return quantile(Student(degrees), probability);
}

double normal_probability(double x) {
  return cdf(Normal(), x);
}

double normal_quantile(double probability) {
  return quantile(Normal(), probability);
}

double binomial_tail(size_t tries, size_t hits, double probability) {
  if (hits == 0) return 1;
  if (hits > tries) return 0;
  const Binomial successes(static_cast<double>(tries), probability);
  return cdf(complement(successes, static_cast<double>(hits - 1)));
}

}  // namespace culprit
