// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Who made which thread. Before a thread began it was in the hands of the one that made it: who
// waits for it then waits for that one, and what counts is since when those two know each other.
#pragma once

#include <unordered_map>

#include "replay/waits.h"

namespace culprit::blame {

class Makers {
 public:
  /// Of all ranks' threads. Collective.
  Makers(const replay::Run& run, const replay::WaitGraph& graph);

  bool empty() const { return made_.empty(); }
  /// When it was made, if that is known, or began; Time::min() of those that the program has not
  /// made itself.
  Time birth(LocationId id) const;
  /// The location itself if it had begun by then, or if nobody knows who made it.
  LocationId holder(LocationId id, Time time) const;

  /// Calls visit(thread) for each that lies between a location and its holder, the first among
  /// them.
  template <class Visit>
  void for_each_unborn(LocationId id, Time time, const Visit& visit) const {
    for (LocationId next = id; next != holder(id, time); next = made_.at(next).maker) visit(next);
  }

 private:
  struct Made {
    LocationId maker;
    Time when;  ///< a little before the thread's first event: its maker may go on in between
  };
  const replay::Run& run_;
  std::unordered_map<LocationId, Made> made_;
};

/// Lets the time before a thread's begin (thread.begin) reach back only as far as those who waited
/// for the thread and the one that made it know each other: what that one did earlier made nobody
/// wait. Collective.
void settle_thread_begins(const replay::Run& run, replay::WaitGraph& graph, unsigned threads);

}  // namespace culprit::blame
