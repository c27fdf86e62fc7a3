// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The steps into which a run is divided to find when something costs: the iterations that the
// program marked, or the intervals between visits of the call that waited most, or equal parts.
#pragma once

#include <optional>
#include <vector>

#include "blame/findings/words.h"
#include "replay/model/waits.h"

namespace culprit::blame {

class Steps {
 public:
  /// Equal parts.
  static constexpr size_t kSlices = 64;
  Steps(Time begin, Time end);
  Steps(const replay::Run& run, StepKind kind, std::vector<Time> begins,
        std::vector<int64_t> numbers);

  StepKind kind() const { return kind_; }
  size_t size() const { return begins_.size(); }
  /// Returns the step of a moment; a moment before all steps is in the first.
  size_t at(Time time) const;
  Time begin(size_t step) const { return begins_[step]; }
  Time end(size_t step) const { return step + 1 < size() ? begins_[step + 1] : end_; }
  int64_t number(size_t step) const {
    return numbers_.empty() ? static_cast<int64_t>(step) : numbers_[step];
  }

 private:
  StepKind kind_;
  std::vector<Time> begins_;
  std::vector<int64_t> numbers_;  ///< as marked; empty: from 0
  Time end_;
};

/// Equal parts of the run without its start-up, which is no time in which nobody was late yet.
/// Collective.
Steps equal_parts(const replay::Run& run);

/// The marked loop with the most iterations, of those that are each entered once. Nothing if it has
/// too few to be judged, or if there is none. Collective.
std::optional<Steps> marked_steps(const replay::Run& run);

/// Visits of a call path on a location, known to all ranks. Nothing if there are too few to be
/// judged, or too many to be kept. Collective.
std::optional<Steps> steps_of_visits(const replay::Run& run, LocationId location, CallPathId path);

}  // namespace culprit::blame
