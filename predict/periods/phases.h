// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The phases of a series: intervals in which its values are high. The level of "high" is found from
// the values; one phase may be interrupted for much less time than lies between phases.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace culprit::predict {

/// An interval of samples: [begin, end).
struct Phase {
  size_t begin, end;
  size_t length() const { return end - begin; }
};

/// A value belongs to a phase from `enter` on, and until it falls below `leave`.
struct Level {
  double enter, leave;
};

/// Levels that may divide the values, each worth a try: the smallest value, where at least a
/// twentieth of the values equal it; Otsu's, which maximizes the variance between the two sides
/// (IEEE Trans. SMC 9(1), 1979); and, as long as that leaves a twentieth or less above it, the same
/// with the values above cut off, so that one huge phase hides no others.
std::vector<Level> levels_of(std::span<const double> values);

/// Those of the values, in order. One that had begun before the first sample is left out.
std::vector<Phase> phases_of(std::span<const double> values, Level level);

/// Phases with less than `gap` samples in between become one.
std::vector<Phase> joined(std::span<const Phase> phases, size_t gap);

/// Returns a length that separates gaps inside phases from gaps between phases: where the sorted
/// lengths grow most, by a factor of three at least, so that `least` phases or more are left. 0:
/// there is none.
size_t natural_gap(std::span<const Phase> phases, size_t least);

/// Each value becomes the mean of `width` around it.
std::vector<double> smoothed(std::span<const double> values, size_t width);

}  // namespace culprit::predict
