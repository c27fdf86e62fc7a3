// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The calls of one location: visits of a region in which something happened (MPI_Send,
// MPI_Waitall). Nearly all of them are one activity from beginning to end, and then the activity
// says everything: four bytes a call. The others are kept in full.
#pragma once

#include "base/column.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "replay/model/activities.h"

namespace culprit::replay {

using CallIndex = Id<struct CallTag>;

struct Call {
  Time enter, leave;
  CallPathId path;
};

/// A call that may belong to another location: with threads, one may post an operation that another
/// completes.
struct CallRef {
  LocationId location;
  CallIndex call;
  bool valid() const { return call.valid(); }
};

class Calls {
 public:
  size_t size() const { return places_.size(); }

  CallIndex add(size_t activity) {
    CULPRIT_CHECK(activity < kWhole && places_.size() < kWhole);
    places_.push_back(static_cast<uint32_t>(activity));
    return CallIndex(places_.size() - 1);
  }
  CallIndex add(const Call& call) {
    places_.push_back(kWhole);
    set(CallIndex(places_.size() - 1), call);
    return CallIndex(places_.size() - 1);
  }
  /// Stores a call that does not coincide with one activity.
  void set(CallIndex call, const Call& what) {
    places_[call.index()] = kWhole | static_cast<uint32_t>(whole_.size());
    whole_.push_back(what);
  }

  Call get(CallIndex call, const Activities& activities) const {
    const uint32_t place = places_[call.index()];
    if ((place & kWhole) != 0) return whole_[place & ~kWhole];
    return {activities.begin(place), activities.end(place), activities.path(place)};
  }
  /// The calls that are stored in full, with their own call path.
  Column<Call>& whole() { return whole_; }

  void release() {
    places_.release();
    whole_.release();
  }

 private:
  static constexpr uint32_t kWhole = 0x80000000u;  // in whole_, not an activity
  Column<uint32_t> places_;
  Column<Call> whole_;
};

}  // namespace culprit::replay
