// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The data that detectors share: for each location, the waits found so far. A call may complete
// several operations (Waitall); the location then waits for the last of them, so of all candidates
// of one interval the latest wins, and all operations that were waited for become synchronisation
// points.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/column.h"
#include "base/ranks/exchange.h"
#include "replay/match/progress/progress.h"
#include "replay/model/waits.h"

namespace culprit::replay {

/// The findings of one location. MT: externally synchronised; a detector gives each location to one
/// thread.
class LocationWaits {
 public:
  /// Records that the location waited from `begin` (enter of its call) at `path` until `until`,
  /// when `cause` released it. The wait is clipped to `leave`, the end of the call.
  void wait(Pattern pattern, CallPathId path, Time begin, Time leave, Time until, LocationId cause);
  /// As wait(), for another location that was nearly as late as the cause of the wait with that
  /// begin.
  void tie(Pattern pattern, CallPathId path, Time begin, Time leave, Time until, LocationId cause);
  void sync(const Sync& sync) { syncs.push_back(sync); }
  /// Adds detail to a wait that has been recorded, or will be.
  void message(const MessageWait& more) { message_waits.push_back(more); }
  /// Adds an interval of polling; intervals may overlap, and be empty.
  void polling(const Polling& stretch) { pollings.push_back(stretch); }

  Column<Wait> waits, ties;
  Column<Sync> syncs;
  std::vector<LockWait> lock_waits;
  std::vector<MessageWait> message_waits;
  Column<Polling> pollings;
  Column<Assisted> assisted;  ///< for detect_progress
  Column<Handover> handovers;
  Column<DeviceGap> device_gaps;
  Column<DeviceCallWait> device_waits;
  std::vector<CallPathId> unknown_waits;
  Column<ProgressGate> progress_gates;
  uint64_t clock_violations = 0;  ///< the cause acted only after the wait's call was over
};

/// Waits of locations that other threads may be filling at the moment, or that another rank owns;
/// Detection::deliver moves them there.
class Outbox {
 public:
  /// As LocationWaits::wait, for location `at`.
  void wait(LocationId at, Pattern pattern, const Call& call, Time until, LocationId cause);
  /// As LocationWaits::tie, for location `at`.
  void tie(LocationId at, Pattern pattern, const Call& call, Time until, LocationId cause);
  void sync(LocationId at, const Sync& sync) { syncs_.push_back({at, sync}); }
  /// As LocationWaits::message, for location `at`.
  void message(LocationId at, const MessageWait& more) { messages_.push_back({at, more}); }
  void assisted(const Assisted& operation) { assisted_.push_back(operation); }
  /// As Detection::meet.
  void meet(LocationId a, LocationId b, Time moment) {
    sync(a, Sync::with(b, moment));
    sync(b, Sync::with(a, moment));
  }

 private:
  friend class Detection;
  struct RemoteWait {
    LocationId at;
    Pattern pattern;
    LocationId cause;
    Call call;
    Time until;
    bool is_tie;
  };
  struct RemoteSync {
    LocationId at;
    Sync sync;
  };
  struct ToldMessage {
    LocationId at;
    MessageWait more;
  };
  Column<RemoteWait> waits_;
  Column<RemoteSync> syncs_;
  Column<ToldMessage> messages_;
  Column<Assisted> assisted_;
};

class Detection {
 public:
  explicit Detection(const Run& run) : by_location(run.timelines.size()), run_(run) {}

  LocationWaits& at(LocationId id) { return by_location[id.index()]; }

  /// Returns the group of these locations (sorted); equal sets get the same group. MT: safe.
  SyncGroupId group_of(const std::vector<LocationId>& members);

  /// Delivers and empties the outboxes. Each location gets its findings in an order that depends
  /// only on the order of the outboxes. Collective.
  void deliver(std::span<Outbox> outboxes, unsigned threads);

  /// Joins two locations of this rank at a synchronisation point.
  void meet(LocationId a, LocationId b, Time moment) {
    at(a).sync(Sync::with(b, moment));
    at(b).sync(Sync::with(a, moment));
  }

  /// Judges an operation that may have needed another process's progress; its evidence about its
  /// class is added to `seen`. Returns true if the operation must be passed on to its location.
  bool needs_judging(const Assisted& operation, ProgressEvidence& seen) const {
    return silences != nullptr && seen.add(operation, *silences);
  }
  /// MT: safe.
  void add(const ProgressEvidence& some) {
    const std::lock_guard lock(mutex_);
    evidence.add(some);
  }

  /// MT: safe. The order of rows means nothing.
  void add(std::vector<ArrivalTally> rows) {
    const std::lock_guard lock(mutex_);
    arrivals.insert(arrivals.end(), rows.begin(), rows.end());
  }

  std::vector<LocationWaits> by_location;    ///< those of other ranks' stay empty
  std::unique_ptr<const Silences> silences;  ///< null: waits for progress are not looked for
  ProgressEvidence evidence;
  Duration suspected;  ///< waits for progress, of all ranks, of which that is not sure
  std::vector<SyncGroup> groups;
  std::vector<MessageTally> messages;
  std::vector<ArrivalTally> arrivals;
  Losses losses;

 private:
  std::vector<Outbox> exchange_told(std::span<Outbox> outboxes);
  void pack_told(const Outbox& told, Packer& packer) const;
  Outbox unpack_told(const Parcel& parcel);

  const Run& run_;
  std::mutex mutex_;
  std::map<std::vector<LocationId>, SyncGroupId> group_ids_;
};

// The detectors, one per file; the table is detectors.def.
#define DETECTOR(id, what) void detect_##id(Run& run, unsigned threads, Detection& out);
#include "replay/model/detectors.def"
#undef DETECTOR

}  // namespace culprit::replay
