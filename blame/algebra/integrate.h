// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Several findings on common ground: one tree of call paths, one list of locations, one of counters
// (F. Song, F. Wolf, N. Bhatia, J. Dongarra, S. Moore: An algebra for cross-experiment performance
// analysis, ICPP 2004, section 3.1). Locations are the same if they have the same rank and thread,
// call paths if they have the same names from the root on. Names of OpenMP constructs contain
// lines: names that differ only in the line are matched in order, so that runs of different builds
// compare.
#pragma once

#include <span>
#include <vector>

#include "blame/findings/findings.h"

namespace culprit::blame {

/// The ids of the common ground, by an input's own ids.
struct CommonIds {
  std::vector<CallPathId> callpaths;
  std::vector<LocationId> locations;
  std::vector<MetricId> metrics;

  CallPathId operator()(CallPathId id) const { return id.valid() ? callpaths[id.index()] : id; }
  LocationId operator()(LocationId id) const { return id.valid() ? locations[id.index()] : id; }
  MetricId operator()(MetricId id) const { return id.valid() ? metrics[id.index()] : id; }
  template <class T>
  T operator()(const T& value) const {
    return value;
  }
};

struct CommonGround {
  std::vector<FoundCallPath> callpaths;
  std::vector<FoundLocation> locations;  ///< without times
  std::vector<FoundMetric> metrics;
  std::vector<CommonIds> inputs;  ///< in the order of the inputs
};

CommonGround integrate(std::span<const Findings* const> inputs);

}  // namespace culprit::blame
