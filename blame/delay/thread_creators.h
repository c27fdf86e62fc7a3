// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Who made which thread. Before a thread began it was in the hands of the one that made it: who
// waits for it then waits for that one, and what counts is since when those two know each other.
#pragma once

#include <unordered_map>
#include <vector>

#include "replay/model/waits.h"

namespace culprit::blame {

class Makers {
 public:
  /// Of all ranks' threads. Collective.
  Makers(const replay::Run& run, const replay::WaitGraph& graph);

  bool empty() const { return made_.empty(); }
  /// When the thread came to be that the location has at `time`: was made, if that is known, or
  /// began. Time::min() of those that the program has not made itself, or that are yet to come.
  Time birth(LocationId id, Time time) const;
  /// The location itself if its thread had begun by then, or if nobody knows who made it.
  LocationId holder(LocationId id, Time time) const {
    return walk(id, time, [](LocationId, Time) {});
  }
  /// Calls visit(location, when its thread was made) for each that lies between a location and its
  /// holder, the first among them.
  template <class Visit>
  void for_each_unborn(LocationId id, Time time, const Visit& visit) const {
    walk(id, time, visit);
  }

 private:
  /// A thread. One location may have several, one after the other.
  struct Made {
    Time since;  ///< when nothing was there any more that it could follow
    Time when;   ///< a little before the thread's first event: its maker may go on in between
    LocationId maker;
  };
  /// The thread that was yet to be made at that time; nullptr if there was one, or nobody knows.
  const Made* unborn(LocationId id, Time time) const;

  /// Nobody is made by a thread that is made later, so this ends.
  template <class Visit>
  LocationId walk(LocationId id, Time time, const Visit& visit) const {
    Time before = Time::max();
    for (const Made* made = unborn(id, time); made != nullptr && made->when < before;
         made = unborn(id, time)) {
      visit(id, made->when);
      before = made->when;
      id = made->maker;
    }
    return id;
  }

  const replay::Run& run_;
  std::unordered_map<LocationId, std::vector<Made>> made_;  ///< in order of time
};

}  // namespace culprit::blame
