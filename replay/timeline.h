// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What replay keeps of one location after reading its events once: activities that tile its life,
// and the operations that may wait. An operation refers to calls by number; a call is one visit of
// a region in which something happened (MPI_Send, MPI_Waitall, ...).
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "replay/call_paths.h"
#include "replay/counts.h"
#include "replay/openmp_facts.h"
#include "trace/events.h"

namespace culprit::replay {

using CallIndex = Id<struct CallTag>;
using WaitIndex = Id<struct WaitTag>;
using ForkIndex = Id<struct ForkTag>;

/// A stretch at one call path, until the next one's begin; the last ends with the run. After
/// detection, a stretch in a wait state is one of its own and knows its wait.
struct Activity {
  Time begin;
  CallPathId path;
  WaitIndex wait;
};

struct Call {
  Time enter, leave;
  CallPathId path;
};

/// A call that may be another location's: with threads, one may post what another completes.
struct CallRef {
  LocationId location;
  CallIndex call;
  bool valid() const { return call.valid(); }
};

/// How a call can complete an operation. Test never waits; a buffered or ready send neither.
struct SendOp {
  CallRef posted;
  CallRef completed;  ///< none: never seen to complete
  CallRef ready;      ///< partitioned: where its last partition was handed over
  trace::MpiMessage message;
  bool may_wait =
      true;  ///< false for MPI_Bsend, MPI_Rsend and their kind, and when completed by a test
  LocationId partner;       ///< the receiver, once matched
  uint32_t partner_op = 0;  ///< index into its recvs
};

struct RecvOp {
  CallRef posted;
  CallRef completed;
  CallRef found;  ///< by this matched probe: then, not when posted, it met its message
  trace::MpiMessage message;
  bool may_wait = true;  ///< false when completed by a test
  LocationId partner;
  uint32_t partner_op = 0;
};

struct CollectiveOp {
  CallRef posted;
  CallRef completed;
  trace::MpiCollective what;
  bool may_wait = true;
};

struct Fork {
  Time time;
  Time join;
  CallPathId path;  ///< in its own tree, later in the run's: where the team's members hang
  RegionId region;  ///< the innermost of that path
  trace::RegionInstance instance;
};

/// A visit of an OpenMP barrier, explicit or implicit.
struct BarrierVisit {
  Time enter, leave;
  CallPathId path;
};

/// One thread's membership in one team.
struct TeamSpan {
  Time begin, end;
  trace::RegionInstance instance;
  LocationId fork_location;        ///< the team's master; none if no fork was found
  ForkIndex fork;                  ///< index into its forks
  std::vector<uint32_t> barriers;  ///< indices of its visits, in order
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
  uint32_t op = 0;  ///< of `received`, `collective`: index of the operation told of here
  bool may_wait = true;
};

/// What the locations of a process owe each other until join_requests has settled it.
struct OpenRequests {
  std::unordered_map<uint64_t, uint32_t> sends, recvs;  ///< index of the operation
  std::unordered_map<uint64_t, CallIndex> collectives, probes;
  std::vector<ForeignRequest> foreign;
};

struct Timeline {
  Time first, last;  ///< of its events; first > last if there are none
  std::vector<Activity> activities;
  std::vector<Call> calls;
  std::vector<SendOp> sends;
  std::vector<RecvOp> recvs;
  std::vector<CollectiveOp> collectives;
  std::vector<Fork> forks;
  std::vector<TeamSpan> teams;
  std::vector<BarrierVisit> barriers;
  OpenmpFacts openmp;
  std::vector<Count> counts;  ///< what its counters counted
  std::vector<StageVisit> stages;
  CallPathTree tree;             ///< its own; empty once joined into the run's
  std::vector<uint64_t> visits;  ///< by call path of its own tree
  OpenRequests open;
  uint64_t events = 0;

  bool empty() const { return events == 0; }
};

}  // namespace culprit::replay
