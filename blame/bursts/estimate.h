// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a few windows of a run say of all of it, and how surely. The profile knows for the whole run
// how long each stratum lasted (the calls of one call path on one rank), a window knows for its own
// part also what a cause costs there. A cost is estimated by separate ratios: by stratum, the cost
// that windows saw, by the time that they saw, times the time in the whole run (W. G. Cochran:
// Sampling Techniques, 1977, sections 6.10 to 6.12). So a window in which a stratum happens to be
// frequent does not count for more than it stands for.
//
// Windows stand at random places, one in each of equal parts of the run. The variance follows from
// what windows differ from these ratios, and is the larger of that from their spread and that from
// differences of neighbours (K. M. Wolter: Introduction to Variance Estimation, 2007, section 8.2),
// since which of them is larger depends on whether the run drifts or has periods. If few windows
// make up most of it, as with rare stalls, there are only a few degrees of freedom.
//
// Nothing here knows of findings: the numbers are seconds, places of strata, and places of windows
// in the order of their times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace culprit::blame {

inline constexpr size_t kNoStratum = SIZE_MAX;

struct Stratum {
  size_t parent = kNoStratum;  ///< stands before it in the list
  double whole_s = 0;          ///< in the part of the run that windows stand for, theirs included
  std::vector<double> seen_s;  ///< by window
};

/// Strata that windows can speak for. One that fewer than two windows saw (of windows apart, that
/// the only one did not see) is joined with its parent, so its costs count at the parent's ratio.
class Strata {
 public:
  /// `covered`: the windows' part of the time that they stand for. `apart`: one window speaks for
  /// time in which it does not lie; then nothing was seen there, and nothing is certain.
  Strata(std::vector<Stratum> strata, size_t windows, double covered, bool apart = false);

  size_t windows() const { return windows_; }
  double covered() const { return covered_; }
  bool is_apart() const { return is_apart_; }
  /// The stratum, or the one above it with which it was joined.
  size_t group(size_t stratum) const { return group_[stratum]; }
  const Stratum& at_group(size_t group) const { return strata_[group]; }
  /// What a second of a window stands for. 1 if no window saw anything of the group.
  double factor(size_t stratum) const;
  /// The time of the strata of a group that no window saw.
  double unseen_s(size_t group) const { return unseen_s_[group]; }
  double all_unseen_s() const { return all_unseen_s_; }
  double whole_s() const { return whole_s_; }
  double seen_s() const { return seen_s_; }  ///< of `whole_s`

 private:
  std::vector<Stratum> strata_;  ///< joined ones are empty
  std::vector<size_t> group_;
  std::vector<double> unseen_s_, sums_s_;
  size_t windows_;
  double covered_, whole_s_ = 0, seen_s_ = 0, all_unseen_s_ = 0;
  bool is_apart_;
};

/// Something that costs time in a window.
struct SeenCost {
  size_t stratum = 0;
  size_t window = 0;
  double cost_s = 0;
};

/// An estimated cost. Those of parts add up to that of the whole, in all of these fields.
struct ScaledCost {
  double cost_s = 0;                ///< in the whole that windows stand for
  double seen_s = 0;                ///< part of it that windows saw: at least this is certain
  double unseen_s = 0;              ///< part of it in strata that no window saw: assumed
  std::vector<double> residuals_s;  ///< by window: by how much it differs from what it would be

  ScaledCost& operator+=(const ScaledCost& other);
  /// The same a number of times.
  ScaledCost times(double factor) const;
};

ScaledCost scale_up(const Strata& strata, std::span<const SeenCost> seen);

/// A part of something that was scaled up: at the ratio at which windows saw it there. `seen_s` and
/// `part_s` are what they saw of the whole and of the part.
ScaledCost part_of(const ScaledCost& whole, std::span<const double> seen_s,
                   std::span<const double> part_s);

/// A part that is brought to where all parts, `sum`, come to the whole. What was seen stays.
ScaledCost balanced(const ScaledCost& part, const ScaledCost& sum, const ScaledCost& whole);

/// An interval that holds the true value in 95 of 100 runs, if all that matters was seen.
struct Interval {
  double low = 0;
  double high = 0;
  double degrees = 0;  ///< of freedom; 0: fewer than two windows say nothing of how they vary
};

/// Bounds in seconds. What no window saw may be all or nothing of the cost.
Interval interval(const Strata& strata, const ScaledCost& cost);

/// Bounds of the quotient (part_known_s + part) / (whole_known_s + whole): `part` is one of
/// `whole`'s parts, and known ones were seen as a whole.
Interval interval_of_share(const Strata& strata, const ScaledCost& part, double part_known_s,
                           const ScaledCost& whole, double whole_known_s);

}  // namespace culprit::blame
