// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// From a device's clock to the trace's. Moments are known at which the device's clock showed some
// time between two of ours: the map goes through all of these intervals, changing its offset as
// little as possible from the narrowest on, since clocks drift slowly (parts in a million) while
// single readings may have been interrupted. In between it is linear; beyond the ends its offset
// stays.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/time.h"

namespace culprit::assemble {

class DeviceClock {
 public:
  /// The device's clock read `nanoseconds` at some moment between two times of the trace.
  struct Moment {
    uint64_t nanoseconds = 0;
    Time at_least;
    Time at_most;
  };

  explicit DeviceClock(std::vector<Moment> moments);

  /// Without any moment, the device's time counts as the trace's.
  Time time(uint64_t nanoseconds) const;
  bool known() const { return !breakpoints_.empty(); }

 private:
  struct Breakpoint {
    uint64_t nanoseconds = 0;
    int64_t offset = 0;  ///< from the device's time to the trace's
  };
  std::vector<Breakpoint> breakpoints_;  ///< in order of time
};

}  // namespace culprit::assemble
