// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The seam between detectors and explanations: wait states and synchronisation points. A detector
// knows one programming model and fills this; an explanation reads it and knows no model.
//
// A wait state is an interval in which a location can do nothing until another acts; it has one
// cause, a location, which acts when the wait ends. Waits of a location do not overlap and are
// sorted by time. A synchronisation point joins two locations, or each two of a group, in an
// operation in which a wait occurred, at the moment at which one released the other: the enter of a
// send or of an operation's last member, a fork, the release of a lock, the end of the awaited
// activity. It is one moment on all of them, and not when each leaves its call: a location that
// releases another and then waits in the same call waits after the synchronisation.
#pragma once

#include <functional>
#include <vector>

#include "base/column.h"
#include "base/ids.h"
#include "base/time.h"
#include "replay/model/detectors.h"
#include "replay/model/run.h"
#include "replay/model/wait_patterns.h"

namespace culprit::replay {

using SyncGroupId = Id<struct SyncGroupTag>;

struct Wait {
  Time begin;       ///< also the end of its synchronisation interval on the waiter
  Time end;         ///< also the end of the interval on its cause
  Duration amount;  ///< end - begin, less what the location did in between (tasks in a barrier)
  CallPathId path;
  LocationId cause;       ///< who was waited for
  uint32_t activity = 0;  ///< of the waiter, the one that `begin` lies in
  Pattern pattern{};
};

/// Returns whether a location at `path` during `wait` is waiting. At other paths it does its own
/// work (tasks in a barrier). A polling thread may call several test functions in turn: each of
/// them is polling.
inline bool waits_at(const Run& run, const Wait& wait, CallPathId path) {
  return path == wait.path || (wait.pattern == pattern("mpi.polling") && run.polls[path.index()]);
}

/// A synchronisation point as one of its locations sees it.
class Sync {
 public:
  static Sync with(LocationId partner, Time moment) { return Sync(moment, partner.index(), false); }
  static Sync of(SyncGroupId group, Time moment) { return Sync(moment, group.index(), true); }

  Time moment() const { return moment_; }
  bool of_group() const { return of_group_; }
  LocationId partner() const { return LocationId(other_); }
  SyncGroupId group() const { return SyncGroupId(other_); }

  /// The same, where its group has another number.
  Sync renumbered(SyncGroupId group) const { return of(group, moment_); }

  /// Orders by moment, then by any deterministic order.
  friend auto operator<=>(const Sync&, const Sync&) = default;

 private:
  Sync(Time moment, size_t other, bool of_group)
      : moment_(moment), other_(static_cast<uint32_t>(other)), of_group_(of_group) {}
  Time moment_;
  uint32_t other_;
  bool of_group_;
};

/// The same set of locations synchronising again and again (a communicator, a team). Each rank has
/// numbers of its own.
struct SyncGroup {
  std::vector<LocationId> members;  ///< sorted
};

/// The call paths at which the holder of a lock acquired and released it, for the wait of omp.lock,
/// omp.critical, omp.ordered or omp.atomic with the same begin; the holder is that wait's cause.
struct LockWait {
  Time begin;
  CallPathId acquired;  ///< the innermost region then: the critical construct, the call for a lock
  CallPathId released;  ///< none: it was held until the end, as far as the trace tells
};

/// A thread tested again and again for a message that had not been sent (mpi.polling). It may have
/// worked in between: no waiting time. The tests themselves are among the location's waits, with
/// that pattern (counts_as_waiting), so that explanations know what they were due to.
struct Polling {
  Time begin;  ///< the first test that found nothing
  Time end;    ///< enter of the send
  CallPathId path;
  LocationId sender;
};

/// An interval in which a device had nothing to do, charged to the stream whose operation ends it.
/// Up to `handed_over` the host is late; the rest is latency.
struct DeviceGap {
  enum class Place : uint8_t { before_first, between, after_last };  ///< operation of the device
  Time begin, handed_over, end;
  LocationId stream;
  LocationId host;     ///< who handed that operation over
  bool known = false;  ///< who; otherwise handed_over is begin
  Place place = Place::between;
  Time held = {};  ///< until then the stream was at an operation that does not keep it busy
};

/// A host's call that waits for a device.
struct DeviceCallWait {
  Time enter, leave;
  CallPathId path;
  bool redundant;  ///< there was nothing to wait for
};

/// A location continues at a time because another acted, without having waited: it had nothing to
/// do, or polled.
struct Handover {
  Time time;
  LocationId from;
};

/// The use of a message (detect/message_use.h).
enum class MessageKind : uint8_t { data, empty, repeated };

/// A call of MPI that took long, and what it moved.
struct LongCall {
  Time enter;
  uint64_t bytes = 0;    ///< of all that it sent or received; of some, rounded up to a power of two
  uint32_t members = 2;  ///< processes that take part, at most
};
/// Shorter ones need no explanation.
inline constexpr Duration kLongCall = Duration::from_nanos(50'000);

/// More of the message that a wait was for, if there is more to say: of the wait with the same
/// begin, end and cause.
struct MessageWait {
  Time begin, end;
  LocationId cause;
  CallPathId sent;    ///< where the message was sent
  LocationId sender;  ///< and by whom
  CommId comm;
  ProcessId corner;  ///< of mpi.pipeline_refill: where the sweep starts
  MessageKind kind = MessageKind::data;
};

/// The messages from a call path and location that processes of this rank received.
struct MessageTally {
  CallPathId path;
  LocationId sender;
  uint64_t messages = 0, empty = 0, repeated = 0;
  uint64_t bytes = 0;
  uint64_t receivers = 0;  ///< processes
  uint64_t silent = 0;     ///< those of them that got no data from there, ever
};

/// How a member of a group comes to collective operations in which all wait for all. One rank knows
/// a part of them.
struct ArrivalTally {
  CommId comm;           ///< none: a group of streams, ...
  uint32_t channel = 0;  ///< ... the one with this number
  RegionId operation;    ///< MPI's function, or the kernel
  LocationId location;
  uint64_t operations = 0;
  uint64_t last = 0;  ///< of them it was the last to enter
  Duration skew;      ///< from its entering to that of the last
  Duration late;      ///< as the last: behind the one before it
  Duration transfer;  ///< from the last one's entering to its own end
};

/// An operation that is complete only after another process has called MPI again, whether a
/// location waited for it then or not.
struct ProgressGate {
  Call call;        ///< that completed it
  Time back;        ///< the other's return to MPI
  LocationId from;  ///< by whose call
  uint32_t bytes;
};

/// What one of the program's own threads slept while nobody needed it (detect/spare). It is no part
/// of its life any more.
struct SpareTime {
  LocationId location;
  LocationId maker;  ///< none: not known
  CallPathId path;   ///< where most of it was
  uint64_t sleeps = 0;
  Duration asleep;
  Duration awake;  ///< otherwise, in all of its life
  bool never_awake = false;
};

struct WaitGraph {
  std::vector<Column<Wait>> waits;  ///< by LocationId, sorted by begin
  /// Ties: locations nearly as late as a wait's cause, each as a wait with the same begin that ends
  /// when this location acted. By LocationId, sorted by begin, then by end (near_ties.h).
  std::vector<Column<Wait>> ties;
  std::vector<Column<Sync>> syncs;                      ///< by LocationId, sorted by moment
  std::vector<std::vector<LockWait>> lock_waits;        ///< by LocationId, sorted by begin
  std::vector<std::vector<MessageWait>> message_waits;  ///< by LocationId, sorted by begin
  std::vector<MessageTally> messages;  ///< each receiving process has rows of its own
  std::vector<ArrivalTally> arrivals;  ///< a member may have several rows
  /// By LocationId, sorted: call paths of calls that wait for devices, in which it is not known
  /// what for. Time there is no work.
  std::vector<std::vector<CallPathId>> unknown_waits;
  std::vector<Column<Polling>> pollings;             ///< by LocationId, sorted, not overlapping
  std::vector<SyncGroup> groups;                     ///< by SyncGroupId
  std::vector<Column<Handover>> handovers;           ///< by LocationId, sorted by time
  std::vector<Column<DeviceGap>> device_gaps;        ///< by LocationId of the stream, sorted
  std::vector<Column<DeviceCallWait>> device_waits;  ///< by LocationId of the host, sorted
  std::vector<Column<LongCall>> long_calls;          ///< by LocationId, sorted by enter
  std::vector<Column<ProgressGate>> progress_gates;  ///< by LocationId
  std::vector<SpareTime> spares;                     ///< of this rank's locations, in order
  Duration suspected;  ///< of all ranks' waits of mpi.progress: those of which that is not sure

  /// A location's ties have the numbers behind its waits.
  const Wait& wait(LocationId id, uint32_t number) const {
    const Column<Wait>& own = waits[id.index()];
    return number < own.size() ? own[number] : ties[id.index()][number - own.size()];
  }
};

/// Finds all waits of this rank's locations. Runs every detector of detectors.def but those that
/// are `disabled`. Counts what does not fit into Run::losses. The operations of the run's timelines
/// are used up; before that, when the times of all events are settled, `at_operations` is called if
/// given. To `times`, if given, is added what each detector took. Collective.
WaitGraph detect_waits(Run& run, unsigned threads, const DetectorSet& disabled = {},
                       DetectorTimes* times = nullptr,
                       const std::function<void()>& at_operations = {});

}  // namespace culprit::replay
