// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The OpenMP teams of one process: for each fork, the threads that joined it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "replay/model/run.h"

namespace culprit::replay {

/// A number for each fork of a process.
using TeamNumber = Id<struct TeamNumberTag>;

class Teams {
 public:
  struct Member {
    LocationId location;
    uint32_t span;  ///< index into its Timeline::teams
  };

  /// `locations`: the analysed ones of the process, sorted.
  Teams(const Run& run, std::span<const LocationId> locations);

  size_t size() const { return first_.size() - 1; }
  /// Sorted by location, each at most once.
  std::span<const Member> members(TeamNumber team) const {
    return std::span(members_).subspan(first_[team.index()], count_[team.index()]);
  }
  /// The team of a span; none if its fork is not known.
  TeamNumber of(const TeamSpan& span) const {
    if (!span.fork.valid()) return TeamNumber::none();
    return TeamNumber(first_fork_[position(span.fork_location)] + span.fork.index());
  }
  LocationId master(TeamNumber team) const;
  const Fork& fork(TeamNumber team) const;

  const Run& run() const { return run_; }
  std::span<const LocationId> locations() const { return locations_; }
  /// Of a location of this process, in locations().
  size_t position(LocationId id) const {
    return static_cast<size_t>(std::lower_bound(locations_.begin(), locations_.end(), id) -
                               locations_.begin());
  }

 private:
  size_t position_of_master(TeamNumber team) const;

  const Run& run_;
  std::span<const LocationId> locations_;
  std::vector<size_t> first_fork_;  // by position
  std::vector<Member> members_;
  std::vector<size_t> first_;    // by team; one more at the end
  std::vector<uint32_t> count_;  // by team
};

}  // namespace culprit::replay
