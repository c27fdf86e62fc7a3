// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which thread created which. Until a thread starts, its creator is accountable for it: a wait for
// it then is a wait for its creator, and the interval begins when waiter and creator last
// synchronised.
#pragma once

#include <unordered_map>
#include <vector>

#include "replay/model/waits.h"

namespace culprit::blame {

class ThreadCreators {
 public:
  /// Of all ranks' threads. Collective.
  ThreadCreators(const replay::Run& run, const replay::WaitGraph& graph);

  bool empty() const { return made_.empty(); }
  /// Returns when the thread that the location has at `time` was created, if that is known, or else
  /// began. Time::min() for threads that the program did not create itself, or that do not exist
  /// yet.
  Time creation(LocationId id, Time time) const;
  /// Returns the accountable location: the location itself if its thread had begun by then, or if
  /// its creator is unknown.
  LocationId creator_at(LocationId id, Time time) const {
    return walk(id, time, [](LocationId, Time) {});
  }
  /// Calls visit(location, when its thread was made) for each that lies between a location and its
  /// creator_at, the first among them.
  template <class Visit>
  void for_each_not_created(LocationId id, Time time, const Visit& visit) const {
    walk(id, time, visit);
  }

 private:
  /// A thread. One location may have several, one after the other.
  struct Made {
    Time since;  ///< when nothing was there any more that it could follow
    Time when;   ///< a little before the thread's first event: its creator may go on in between
    LocationId creator;
  };
  /// Returns the thread that had not been created yet at that time; nullptr if it existed, or if
  /// that is unknown.
  const Made* not_yet_created(LocationId id, Time time) const;

  /// No thread is created by a later one, so this terminates.
  template <class Visit>
  LocationId walk(LocationId id, Time time, const Visit& visit) const {
    Time before = Time::max();
    for (const Made* made = not_yet_created(id, time); made != nullptr && made->when < before;
         made = not_yet_created(id, time)) {
      visit(id, made->when);
      before = made->when;
      id = made->creator;
    }
    return id;
  }

  const replay::Run& run_;
  std::unordered_map<LocationId, std::vector<Made>> made_;  ///< in order of time
};

}  // namespace culprit::blame
