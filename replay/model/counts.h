// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Counter values by call path. A counter is read at the borders of recorded regions. The difference
// of two readings is charged to the innermost call path that contains all of the time between them,
// and to nothing deeper, since its division among the functions in between is unknown.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "replay/model/call_paths.h"
#include "trace/definitions.h"

namespace culprit::replay {

/// A metric at a call path of one location: its sum, or for levels its maximum.
struct Count {
  CallPathId path;  ///< none: outside of every region
  MetricId metric;
  double value = 0;
  Duration time;  ///< between the readings that it is the sum of
};

/// The innermost path that is `a` or above and `b` or above; none if they have no root in common.
CallPathId common_path(const CallPathTree& tree, CallPathId a, CallPathId b);

/// Adds a count to others, of which there is one for each path and metric.
class Counts {
 public:
  void add(const Count& count, const trace::Definitions& definitions);
  std::vector<Count> take() const;

 private:
  std::map<std::pair<CallPathId, MetricId>, Count> counts_;
};

/// Of one location, while its events are read.
class CountBuilder {
 public:
  explicit CountBuilder(const trace::Definitions& definitions)
      : definitions_(definitions), sets_(definitions.metric_sets.size()) {}

  bool counting() const { return counting_; }
  /// The location spent time at `path`.
  void spent_time_at(const CallPathTree& tree, CallPathId path);
  /// The values at `time`, while the location is at `path`.
  void read(Time time, MetricSetId set, std::span<const double> values, CallPathId path);

  std::vector<Count> take() { return counts_.take(); }

 private:
  struct Set {
    std::vector<double> last;  ///< empty before the first reading
    Time since;
    bool moved = false;  ///< time was spent since, in `common` and below
    CallPathId common;
  };
  const trace::Definitions& definitions_;
  std::vector<Set> sets_;
  Counts counts_;
  bool counting_ = false;
};

}  // namespace culprit::replay
