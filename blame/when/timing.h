// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// When does something cost? A series of costs, one per step, is tested for five courses, in this
// order; the first that passes is reported, and a series that passes none is steady:
//
//   once            the shortest window with 80 % of the cost is one step, or 5 % of all
//   every P-th      at one phase lies the largest of at least 80 % of five cycles or more, with
//                   max(3/P, 30 %) of the cost; the binomial tail times P n/5 is below 0.001
//   from, until     Pettitt's test below 0.001, means that differ by a factor of 2, and at least
//                   5 % of the steps on both sides
//   growing,        Spearman's test below 0.001, and a rise over the series by half its mean; where
//   shrinking       a step passes as well, it must leave less than 0.8 of the line's squared error
//
// Costs that follow each other are alike, so the tests for a step and for growth count n(1 - r)/(1
// + r) values, r being the correlation of neighbours among what the fit to the ranks leaves, at
// least 0. Fewer than 20 steps say nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "blame/findings/words.h"

namespace culprit::blame {

inline constexpr size_t kLeastSteps = 20;

struct Timing {
  Course course = Course::steady;
  size_t begin = 0, end = 0;  ///< steps that it speaks of; of `every`, begin is the first
  size_t period = 0;          ///< of `every`
};

/// Costs are not negative.
Timing find_timing(std::span<const double> costs);

/// How much a series rises from step to step: the slope of the line with the least squared error.
double rise(std::span<const double> values);

/// Takes the costliest place of each step with costs. If one place is the costliest in 80 % of the
/// steps, it stays; else pairs of equal neighbours are counted against chance.
Movement find_movement(std::span<const uint32_t> places);

}  // namespace culprit::blame
