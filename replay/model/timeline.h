// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The data that replay stores about one location after reading its events once: activities that
// tile its life, and the operations that may wait. An operation refers to calls by number; a call
// is one visit of a region with an operation (MPI_Send, MPI_Waitall, ...).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/column.h"
#include "base/flat_map.h"
#include "base/ids.h"
#include "base/time.h"
#include "replay/model/activities.h"
#include "replay/model/call_paths.h"
#include "replay/model/calls.h"
#include "replay/model/counts.h"
#include "replay/model/device_facts.h"
#include "replay/model/openmp_facts.h"
#include "replay/model/probes.h"
#include "replay/model/rma_facts.h"
#include "replay/model/thread_facts.h"
#include "trace/events.h"

namespace culprit::replay {

using ForkIndex = Id<struct ForkTag>;

/// A call of this location by its number, or one of another by its place in Timeline::elsewhere.
class CallKey {
 public:
  CallKey() = default;
  static CallKey own(CallIndex call) {
    return CallKey(call.valid() ? static_cast<uint32_t>(call.index()) : kNone);
  }
  static CallKey elsewhere(size_t place) {
    return CallKey(kElsewhere | static_cast<uint32_t>(place));
  }
  bool valid() const { return value_ != kNone; }
  bool is_own() const { return (value_ & kElsewhere) == 0; }
  CallIndex call() const { return CallIndex(value_); }
  size_t place() const { return value_ & ~kElsewhere; }

 private:
  static constexpr uint32_t kNone = UINT32_MAX, kElsewhere = 0x80000000u;
  explicit CallKey(uint32_t value) : value_(value) {}
  uint32_t value_ = kNone;
};

/// A send or a receive.
struct MessageOp {
  CallKey posted;
  CallKey completed;  ///< none: never seen to complete
  CommId comm;
  uint32_t peer = 0;  ///< as in trace::MpiMessage, and so is the tag
  int32_t tag = 0;
  uint32_t bytes = 0;  ///< UINT32_MAX if more
  /// How a call can complete an operation. Test never waits; a buffered or ready send neither.
  bool may_wait = true;
  bool rare = false;  ///< more of it stands in rare_sends, rare_recvs
  /// Of the messages that lead a sweep: its process's number of that flow (sweep_runs.h).
  uint8_t flow = kNoFlow;
  static constexpr uint8_t kNoFlow = UINT8_MAX;
};
static_assert(sizeof(MessageOp) == 28);

/// Rare properties of messages.
struct RareMessage {
  /// Of a partitioned send: where its last partition was handed over. Of a receive: the matched
  /// probe that found its message; then, not when it was posted, it met it.
  CallRef met;
  uint32_t partitioned = 0;  ///< as in trace::MpiMessage
  trace::MatchedProbe probe = trace::MatchedProbe::none;
};
using RareMessages = std::unordered_map<uint32_t, RareMessage>;  ///< by index of the operation

struct CollectiveOp {
  static constexpr uint32_t kNoRoot = UINT32_MAX, kIsRoot = UINT32_MAX - 1;
  CallKey posted;
  CallKey completed;
  CommId comm;
  uint32_t root = kNoRoot;
  uint64_t bytes_received = 0;               ///< as in trace::MpiCollective
  culprit::GroupId sends_to, receives_from;  ///< as in trace::MpiCollective
  trace::CollectiveOp op = trace::CollectiveOp::other;
  bool may_wait = true;
  bool polled = false;     ///< a test completed it after others had found nothing (ProbeFacts)
  uint8_t sent_width = 0;  ///< binary digits of the bytes sent
};
static_assert(sizeof(CollectiveOp) == 40);

struct Fork {
  Time time;
  CallPathId path;  ///< in its own tree, later in the run's: where the team's members hang
  RegionId region;  ///< the innermost of that path
  trace::RegionInstance instance;
};

/// A visit of an OpenMP barrier, explicit or implicit.
struct BarrierVisit {
  static constexpr uint32_t kNone = UINT32_MAX;
  CallIndex call;
  uint32_t next = kNone;  ///< index of the team's next visit by this thread
};

/// One thread's membership in one team.
struct TeamSpan {
  Time begin, end;
  LocationId fork_location;                      ///< the team's master; none if no fork was found
  ForkIndex fork;                                ///< index into its forks
  uint32_t first_barrier = BarrierVisit::kNone;  ///< its visits are linked, in order
  uint32_t barriers = 0;                         ///< how many
};

/// A team whose fork was not known yet when the location was read.
struct LostTeam {
  uint32_t span;  ///< index into the location's teams
  trace::RegionInstance instance;
};

/// A visit of a phase or iteration that the program named.
struct StageVisit {
  Time begin, end;
  RegionId region;
  int64_t number;  ///< of the iteration
};

/// A request that went on or ended where it was not posted.
struct ForeignRequest {
  enum class Step : uint8_t { sent, ready, received, cancelled, collective };
  Step step;
  trace::RequestId request;
  Time time;
  CallIndex call;
  uint32_t op = 0;  ///< of `received`, `collective`: index of the operation
  bool may_wait = true;
};

/// Requests that the locations of a process have open with each other, until join_requests settles
/// them.
struct OpenRequests {
  FlatMap sends, recvs;         ///< index of the operation
  FlatMap collectives, probes;  ///< index of the call
  std::vector<ForeignRequest> foreign;
};

/// What samples, and the counts that are read with them, tell of a call path.
struct PathSamples {
  uint64_t samples = 0;  ///< that found the thread there
  Duration observed;     ///< of the time, known without samples
  Duration system;       ///< in the kernel
  Duration faulting;     ///< the part of it that page faults took
  uint64_t page_faults = 0;

  void add(const PathSamples& o) {
    samples += o.samples;
    observed += o.observed;
    system += o.system;
    faulting += o.faulting;
    page_faults += o.page_faults;
  }
};

/// A call that could not return before the run was ended.
struct Unanswered {
  CallPathId path;
  Time begin, end;
  uint32_t rank, thread;  ///< of whom it waited for
};

struct Timeline {
  Time first, last;  ///< of its events; first > last if there are none
  Activities activities;
  Calls calls;
  Column<MessageOp> sends, recvs;
  Column<CollectiveOp> collectives;
  std::vector<CallRef> elsewhere;  ///< calls of other locations that operations here name
  RareMessages rare_sends, rare_recvs;
  ProbeFacts probes;
  Column<RmaFact> rma;
  Column<Fork> forks;
  Column<TeamSpan> teams;
  std::vector<LostTeam> lost_teams;  ///< until read_run has looked for their forks
  Column<BarrierVisit> barriers;
  OpenmpFacts openmp;
  ThreadFacts threads;
  DeviceFacts device;
  std::vector<LocationId> leaders;  ///< whose teams it was in, each once
  LocationId first_leader;          ///< who forked the first of them; none: not known
  bool in_teams = false;            ///< of any; known, as these are, when teams are released
  std::vector<Count> counts;        ///< what its counters counted
  std::vector<StageVisit> stages;
  std::vector<Unanswered> unanswered;
  CallPathTree tree;                 ///< its own; empty once joined into the run's
  std::vector<uint64_t> visits;      ///< by call path of its own tree
  std::vector<PathSamples> samples;  ///< likewise; may be shorter
  OpenRequests open;
  uint64_t events = 0;
  bool ended = false;         ///< of a pool, which ended it
  bool for_one_team = false;  ///< threads that were made for a nested team each, one after another
  bool own_thread = false;    ///< in no pool that keeps it: lives from first to last
  LocationId joiner;          ///< of a helper (helpers.h), which begins when this one joins it
  Duration absent;            ///< of that, between one such thread and the next (Run::between)

  bool empty() const { return events == 0; }
  /// Frees the data that only detectors need.
  void release_operations() {
    calls.release();
    sends.release();
    recvs.release();
    collectives.release();
    probes.release();
    rma.release();
    barriers.release();
    forks.release();
    teams.release();
    openmp = {};
    threads = {};
    device.launches.release();
    device.after = {};
    device.waits.release();
    rare_sends = {};
    rare_recvs = {};
    elsewhere = {};
  }
};

}  // namespace culprit::replay
