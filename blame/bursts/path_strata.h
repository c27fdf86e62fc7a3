// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The strata by which all but waiting is scaled up: call paths, whatever the location, by their
// time in the profile.
#pragma once

#include <cstdint>

#include "blame/bursts/common_run.h"
#include "blame/bursts/estimate.h"

namespace culprit::blame {

class PathStrata {
 public:
  /// What the strata's sizes are: seconds, or numbers of visits.
  enum class Measure : uint8_t { time, visits };
  explicit PathStrata(const CommonRun& run, Measure measure = Measure::time);

  const Strata& strata() const { return strata_; }
  /// That of no call path is the topmost.
  size_t of(CallPathId path) const { return path.valid() ? 1 + path.index() : 0; }

 private:
  Strata strata_;
};

}  // namespace culprit::blame
