// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The lanes of a picture: visits, which are stretches of one letter, and the teams that their
// threads are in. From them follow enters and leaves.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "tests/support/text/action.h"
#include "tests/support/text/sketch.h"
#include "trace/definitions.h"

namespace culprit::trace {

/// A visit: a stretch of one letter.
struct LaneVisit {
  int64_t begin, end;
  std::vector<std::string> path;
};

struct TextLane {
  std::vector<LaneVisit> visits;
  std::vector<std::pair<int64_t, int64_t>> teams;  ///< begin, end
  std::vector<size_t> team_prefix;                 ///< frames that belong to the master's fork
};

/// A trace in the making.
struct Draft {
  Definitions definitions;
  std::map<std::string, RegionId> regions;
  std::vector<TextLane> lanes;                   ///< by LocationId
  std::vector<std::vector<TextAction>> actions;  ///< likewise, in no order yet
  int64_t unit;                                  ///< nanoseconds of one character
  uint64_t teams = 0;

  void add(const TextEvent& event);
};

/// Processes, locations, communicators and visits.
Result<Draft> begin_draft(const Sketch& sketch);

/// The place that a word names; an error if there is none.
Result<TextPlace> place_of(const Draft& draft, const std::string& word);
/// Where the visit ends that begins there.
Result<int64_t> end_of_visit(const Draft& draft, const TextPlace& place);

/// A line `fork`.
Result<void> take_fork(const std::vector<std::string>& words, Draft& draft);

/// Enters and leaves of a lane's visits, then everything in order of time and step.
void finish_lane(size_t lane, Draft& draft);

}  // namespace culprit::trace
