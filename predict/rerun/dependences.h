// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The happened-before dependences of a run, whether they caused waits or not: the edges of the
// graph that is executed again. Replay only knows waits; a dependence without a wait may cause one
// when other parts of the run last longer or shorter.
//
// A gate is a moment on a location's timeline that cannot come before moments of others. A hub
// joins them: locations signal it, and when all have, those at its gates may pass. Each dependence
// is one hub with one signal and one gate; a collective operation is one hub with a signal and a
// gate per member.
//
// Where several ranks analyse the run, each finds the dependences of what it matches. Marks belong
// to who owns their location (ranks/marks.h), a hub to the rank that made it. Other ranks with
// locations at it have a hub in its stead, at which their own meet (HubElsewhere).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/column.h"
#include "base/ids.h"
#include "base/progress/budget.h"
#include "base/time.h"
#include "replay/model/waits.h"

namespace culprit::predict {

using HubId = Id<struct HubTag>;
using LockId = Id<struct LockTag>;

/// A place in the order of a location's events. Of what happens in one nanosecond, that which lies
/// in the call entered earlier comes first: so what ends a call precedes what the next one does.
struct Moment {
  LocationId location;
  Time time;
  Time call;  ///< enter of the call that it lies in, or `time`

  /// Before all else that happens then: the end of something in a call that ends then, too.
  static Moment first(LocationId location, Time time) {
    return {location, time, time - Duration::from_nanos(UINT32_MAX)};
  }
};

/// How data are delivered to a location: the number of consecutive messages within nodes and
/// between nodes, and the bytes of each.
struct Delivery {
  uint32_t near_hops = 0, far_hops = 0;
  uint64_t bytes = 0;
  uint32_t hops() const { return near_hops + far_hops; }
  bool operator==(const Delivery&) const = default;
};

/// Each sort of delivery once. The first is none: what is no matter of data.
class Deliveries {
 public:
  static constexpr uint32_t kNone = 0;
  Deliveries() : list_(1) {}
  uint32_t add(const Delivery& delivery);
  const Delivery& operator[](uint32_t place) const { return list_[place]; }
  size_t size() const { return list_.size(); }

 private:
  struct Hash {
    size_t operator()(const Delivery& delivery) const;
  };
  std::vector<Delivery> list_;
  std::unordered_map<Delivery, uint32_t, Hash> places_;
};

/// What a mark does at its moment. In this order at one moment of a call.
enum class MarkKind : uint8_t { signal, gate, lock_asked, lock_released };

struct Mark {
  Time time;
  LocationId location;
  uint32_t since;   ///< nanoseconds since the call's enter, 2^32 - 1 if more
  uint32_t target;  ///< a hub; of locks, an index into Dependences::holdings
  uint32_t kind_ : 3;
  uint32_t delivery : 29;  ///< of a gate: among Dependences::deliveries

  MarkKind kind() const { return static_cast<MarkKind>(kind_); }
};
static_assert(sizeof(Mark) == 24);

/// An operation that several locations pass: between two of these they can share work. `floats`
/// are nanoseconds.
struct Meeting {
  enum class Of : uint8_t {
    ranks,  ///< a collective operation
    team,   ///< a barrier
    fork,   ///< the end of what a master did alone
  };
  Of of = Of::ranks;
  /// Who signals nothing passes it at its gate: receivers of a broadcast.
  bool at_gate = false;
  uint16_t free = 0;     ///< threads of the master's pool that have nothing to do until then
  float iterations = 0;  ///< what one thread has to do of loops that hand out their iterations
  float longest = 0;     ///< of the tasks that a barrier waits for, the longest
  float chain = 0;       ///< the longest chain of those that depend on each other
  CommId comm = {};      ///< of ranks
};
static_assert(sizeof(Meeting) == 20);

struct Hub {
  static constexpr uint32_t kNone = UINT32_MAX;
  uint32_t signals = 0;      ///< how many there are
  HubId next;                ///< signalled when all have come; none
  Time time = Time::min();   ///< of the last, as recorded
  uint32_t last = kNone;     ///< who that was, where it awaits the hub, too: Dependences::lasts
  uint32_t meeting = kNone;  ///< Dependences::meetings
  bool of_progress =
      false;  ///< somebody who has begun an operation is back in MPI to go on with it
  /// Whose locations signal or await it: this rank's alone, others', too, or it is another rank's
  /// and stands here for that.
  enum class Reach : uint8_t { here, shared, elsewhere } reach = Reach::here;
};

/// What the rank that owns it calls something that also has a number here.
struct Elsewhere {
  uint32_t here, rank, there;
};
/// A hub of another rank.
struct HubElsewhere {
  uint32_t here, rank, there;
  bool awaited = false;  ///< by a location of this rank
};

/// The last location to signal a hub that it awaits itself: its data were complete when the others'
/// had come.
struct Last {
  LocationId location;
  Time others = Time::min();  ///< the last but it
};

/// One lock, by one location.
struct Holding {
  LockId lock;
  uint32_t turn;        ///< among the lock's, in recorded order
  bool shared = false;  ///< with others that share it
};

/// An interval in which a location has nothing to do, and that is no wait.
struct Idle {
  LocationId location;
  Time begin, end;
};

/// Dependences that the trace leaves unknown, so that they are taken as recorded.
struct Unknowns {
  /// Sends that may be handed over only when their receiver is there; nothing tells.
  uint64_t sends = 0;
  uint64_t least_bytes = UINT64_MAX, most_bytes = 0;  ///< of those
  uint64_t choices = 0;  ///< calls that take whichever operation is complete
  Duration polled;       ///< in loops that may work or wait between tests

  void add(const Unknowns& other);
};

struct Dependences {
  Column<Mark> marks;
  Column<Hub> hubs;
  Column<Holding> holdings;
  Column<Idle> idle;
  Column<Last> lasts;
  Column<Meeting> meetings;
  std::vector<CallPathId> loops;  ///< that hand out their iterations (replay::LoopVisit)
  /// By LocationId, of masters of teams: how many threads the largest has; may be shorter.
  std::vector<uint32_t> pools;
  Deliveries deliveries;
  Unknowns unknowns;
  uint32_t locks = 0;
  uint32_t contended = 0;  ///< locks of these that somebody waited for
  /// What belongs to other ranks, in the order of the numbers here.
  std::vector<HubElsewhere> hubs_elsewhere;
  std::vector<Elsewhere> meetings_elsewhere, holdings_elsewhere;
  Budget* budget = nullptr;  ///< a step of it for each mark; null: there is no end
  /// Among several ranks none stops alone: marks for which nothing is left are left out, and
  /// `spent` says so.
  bool stops = true;
  bool spent = false;

  HubId add_hub() {
    hubs.push_back({});
    return HubId(hubs.size() - 1);
  }
  void meet(HubId hub, const Meeting& meeting) {
    hubs[hub.index()].meeting = static_cast<uint32_t>(meetings.size());
    meetings.push_back(meeting);
  }
  void signal(HubId hub, const Moment& at);
  void gate(HubId hub, const Moment& at, const Delivery& delivery = {});
  /// One waits for one.
  void edge(const Moment& from, const Moment& to, const Delivery& delivery = {});
  void hold(const Holding& holding, const Moment& asked, const Moment& released);
  /// Hubs and what they and marks refer to get other numbers.
  void append(Dependences&& other);

 private:
  void put(const Mark& mark);
  uint32_t unspent_ = 0;
};

/// What a location does between its first test for something and the test that found it.
enum class PollingLoop : uint8_t {
  waits,
  works,    ///< on what it works on after that, too
  unclear,  ///< too few tests, other calls, or never alike
};
PollingLoop judge_polling(const replay::Run& run, LocationId id, Time first_test,
                          const replay::Call& success);

/// All of a run's, within a budget if there is one, for Run before its operations are released
/// (replay::detect_waits calls back then). Throws BudgetSpent, on all ranks if on one. Collective.
Dependences find_dependences(const replay::Run& run, unsigned threads, Budget* budget = nullptr);

/// Adds dependences that only show in waits of this rank, unless an already found one explains
/// them: only detectors know these causes (polling, devices' messages, tasks that had to be found).
void add_waits(const replay::Run& run, const replay::WaitGraph& graph, Dependences& found);

/// Without marks, but in what it takes like another: for one thread, or one process.
Dependences part_of(const Dependences& all);

// The models, each in its own file. Collective.
void add_messages(const replay::Run& run, unsigned threads, Dependences& found);
void add_collectives(const replay::Run& run, unsigned threads, Dependences& found);
void add_openmp(const replay::Run& run, unsigned threads, Dependences& found);
void add_locks(const replay::Run& run, ProcessId process, Dependences& found);
void add_one_sided(const replay::Run& run, unsigned threads, Dependences& found);
void add_devices(const replay::Run& run, unsigned threads, Dependences& found);
void add_threads(const replay::Run& run, Dependences& found);
void add_progress(const replay::Run& run, const replay::WaitGraph& graph, Dependences& found);

}  // namespace culprit::predict
