// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Are moments regular? The distances between them are compared with those of random moments. All in
// the caller's units.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace culprit::predict {

/// Distances within this part of the usual one are said to be alike.
inline constexpr double kAlike = 0.25;
/// The least number of distances; the part of them, without interruptions, that must be one or a
/// few periods; the part that must be one period; and the largest part that may be interruptions.
inline constexpr size_t kLeastDistances = 3;
inline constexpr double kLeastShare = 0.7;
inline constexpr double kLeastAlike = 0.6;
inline constexpr double kMostInterruptions = 0.25;

struct Regularity {
  /// Least squares of the moments over their numbers, which are the distances in whole periods
  /// added up; behind an interruption they begin anew.
  double period = 0;
  double deviation = 0;  ///< standard deviation of those that are alike
  size_t distances = 0;  ///< all
  size_t alike = 0;
  size_t multiples = 0;      ///< distances of 2 or 3 periods
  size_t missed = 0;         ///< moments that did not come in these
  size_t interruptions = 0;  ///< distances of more than 3 periods
  /// The probability that as many distances are alike if moments are random: see regularity_of().
  double chance = 1;

  /// Returns the part of all distances, without interruptions, that are one or a few periods.
  double share() const { return part(alike + multiples); }
  bool enough() const {
    return distances >= kLeastDistances && share() >= kLeastShare && part(alike) >= kLeastAlike &&
           static_cast<double>(interruptions) <=
               kMostInterruptions * static_cast<double>(distances);
  }

 private:
  double part(size_t some) const {
    const size_t all = distances - interruptions;
    return all > 0 ? static_cast<double>(some) / static_cast<double>(all) : 0;
  }
};

/// `dead`: the minimum distance of moments, which is a phase's length. The chance is that of a
/// Poisson process with this dead time and the same median: of k distances, with the median itself
/// given, the binomial tail for as many within 25 % of the median; or, if all are alike, the part
/// of the simplex of k exponential gaps whose coefficient of variation is as small (both derived in
/// docs/periods.md); the smaller of them, times the number of these tests.
Regularity regularity_of(std::span<const double> distances, double dead);

/// Where the distances change: the index of the first after it, or 0 if they do not. Welch's t of
/// the two sides, without distances unlike the side's median, must exceed 4 + 32 / the smaller
/// number of them (it is the largest of many), and the medians differ by a tenth.
size_t change_in(std::span<const double> distances);

}  // namespace culprit::predict
