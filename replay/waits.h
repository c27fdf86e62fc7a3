// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The seam between detectors and explanations: wait states and synchronisation points. A detector
// knows one programming model and fills this; an explanation reads it and knows no model.
//
// A wait state is a stretch in which a location can do nothing until another acts; it has one
// cause, a location and a time. Waits of a location do not overlap and are sorted by time. A
// synchronisation point joins two locations, or each two of a group, in an operation in which a
// wait occurred; the locations see it as a stretch of their own (enter to exit of the operation).
#pragma once

#include <vector>

#include "base/column.h"
#include "base/ids.h"
#include "base/time.h"
#include "replay/patterns.h"
#include "replay/run.h"

namespace culprit::replay {

using GroupId = Id<struct GroupTag>;

struct Wait {
  Time begin;  ///< also the end of its synchronisation interval on the waiter
  Time end;
  Duration amount;  ///< end - begin, less what the location did in between (tasks in a barrier)
  Time cause_time;  ///< when that one entered its operation: the end of the interval there
  CallPathId path;
  LocationId cause;       ///< who was waited for
  uint32_t activity = 0;  ///< of the waiter, the one that `begin` lies in
  Pattern pattern{};
};

/// Which of its group's synchronisations one is; the same number at all members.
enum class Instance : uint64_t {};

/// A synchronisation point as one of its locations sees it.
class Sync {
 public:
  static Sync with(LocationId partner, Time exit, Time partner_exit) {
    return Sync(exit, static_cast<uint64_t>(partner_exit.nanos()), partner.index(), false);
  }
  static Sync of(GroupId group, Instance instance, Time exit) {
    return Sync(exit, static_cast<uint64_t>(instance), group.index(), true);
  }

  Time exit() const { return exit_; }  ///< of its own operation
  bool of_group() const { return of_group_; }
  LocationId partner() const { return LocationId(other_); }
  Time partner_exit() const { return Time::from_nanos(static_cast<int64_t>(detail_)); }
  GroupId group() const { return GroupId(other_); }
  Instance instance() const { return Instance{detail_}; }

  /// The same, where its group has another number.
  Sync renumbered(GroupId group) const { return Sync(exit_, detail_, group.index(), true); }

  /// By exit, then anything that is always the same.
  friend auto operator<=>(const Sync&, const Sync&) = default;

 private:
  Sync(Time exit, uint64_t detail, size_t other, bool of_group)
      : exit_(exit), detail_(detail), other_(static_cast<uint32_t>(other)), of_group_(of_group) {}
  Time exit_;
  uint64_t detail_;
  uint32_t other_;
  bool of_group_;
};

/// The same set of locations synchronising again and again (a communicator, a team). One with
/// members on several ranks has the same number on all of them; on the others it has no members.
struct Group {
  std::vector<LocationId> members;  ///< sorted
};

/// Where the holder of a lock took it and gave it back, of a wait of omp.lock, omp.critical,
/// omp.ordered or omp.atomic with the same begin; the holder is that wait's cause.
struct LockWait {
  Time begin;
  CallPathId acquired;  ///< the innermost region then: the critical construct, the call for a lock
  CallPathId released;  ///< none: it was held until the end, as far as the trace tells
};

/// A thread tested again and again for a message that had not been sent (mpi.polling). It may have
/// worked in between: no waiting time.
struct Polling {
  Time begin;  ///< the first test that found nothing
  Time end;    ///< enter of the send
  CallPathId path;
  LocationId sender;
};

/// A stretch in which a device had nothing to do, charged to the stream whose operation ends it. Up
/// to `handed_over` the host is late; what follows is latency.
struct DeviceGap {
  enum class Place : uint8_t { before_first, between, after_last };  ///< operation of the device
  Time begin, handed_over, end;
  LocationId stream;
  LocationId host;     ///< who handed that operation over
  bool known = false;  ///< who; otherwise handed_over is begin
  Place place = Place::between;
};

/// A host's call that waits for a device.
struct DeviceCallWait {
  Time enter, leave;
  CallPathId path;
  bool redundant;  ///< there was nothing to wait for
};

/// A location goes on at a time because another acted: no waiting, for it had nothing to do.
struct Handover {
  Time time;
  LocationId from;
};

struct WaitGraph {
  std::vector<Column<Wait>> waits;                   ///< by LocationId, sorted by begin
  std::vector<Column<Sync>> syncs;                   ///< by LocationId, sorted by exit
  std::vector<std::vector<LockWait>> lock_waits;     ///< by LocationId, sorted by begin
  std::vector<Column<Polling>> pollings;             ///< by LocationId, sorted, not overlapping
  std::vector<Group> groups;                         ///< by GroupId
  std::vector<Column<Handover>> handovers;           ///< by LocationId, sorted by time
  std::vector<Column<DeviceGap>> device_gaps;        ///< by LocationId of the stream, sorted
  std::vector<Column<DeviceCallWait>> device_waits;  ///< by LocationId of the host, sorted
};

/// Finds all waits of this rank's locations. Runs every detector of detectors.cpp. Counts what does
/// not fit into Run::losses. The operations of the run's timelines are used up. Collective.
WaitGraph detect_waits(Run& run, unsigned threads);

}  // namespace culprit::replay
