// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The data that replay stores about probes, and about tests that found nothing.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "base/column.h"
#include "base/ids.h"
#include "base/time.h"
#include "replay/model/calls.h"
#include "trace/definitions.h"
#include "trace/events.h"

namespace culprit::replay {

/// A probe that found a message.
struct Probe {
  CallIndex call;
  CommId comm;
  uint32_t peer;  ///< as in trace::MpiMessage, and so are tag and number
  int32_t tag;
  trace::MatchedProbe number;
  Time polled_since;  ///< as in PolledOperation; Time::max(): nobody had asked before
  bool waits;         ///< MPI_Probe, MPI_Mprobe
};

/// A receive or a collective that a test completed after others had found nothing.
struct PolledOperation {
  uint32_t op;  ///< its index among the receives or the collectives
  Time since;   ///< enter of the first fruitless test since anything else was completed
};

struct ProbeFacts {
  Column<Probe> probes;
  Column<PolledOperation> polled;
  Column<PolledOperation> polled_collectives;  ///< by index
  Column<PolledOperation> polled_windows;      ///< by index of the act that ends an exposure
  uint64_t inferred = 0;  ///< of `probes`: what they have found is not recorded, but follows

  void release() {
    probes.release();
    polled.release();
    polled_collectives.release();
    polled_windows.release();
  }
};

/// How a region asks for what it wants (trace/mpi_calls.def).
struct AskingRegion {
  bool polls = false;   ///< returns without it, if there is nothing
  bool tests = false;   ///< of these: completes it, if there is something
  bool probes = false;  ///< until there is a message
  bool spins = false;   ///< asks for a lock of the program's own, where it is repeated
};
AskingRegion asking_region_of(const trace::Region& region);

/// Collects them while the events of one location are read.
class ProbeBuilder {
 public:
  /// A call of a polling region was left in which nothing had happened.
  void fruitless(Time enter) { since_ = std::min(since_, enter); }
  /// An operation that can be polled for was completed in the open call. Later tests poll for the
  /// next one.
  void completed() { ending_ = true; }
  /// A call was left in which something had happened.
  void left_call() {
    if (ending_) since_ = Time::max();
    ending_ = false;
  }

  void probed(const trace::MpiMessage& found, AskingRegion region, CallIndex call) {
    recorded_ = true;
    facts_.probes.push_back({call, found.comm, found.peer, found.tag, found.probe,
                             region.polls ? since_ : Time::max(), region.probes});
    completed();
  }
  /// An MPI_Probe or MPI_Mprobe was left, and the archive does not say which message it found: it
  /// is taken to be the next one that its thread receives.
  void silent(CallIndex call) {
    if (!recorded_) silent_ = call;
  }
  /// A receive of the next message has been posted, as operation `op`.
  void posted(size_t op) {
    if (silent_.valid()) awaited_.push_back({op, silent_});
    silent_ = CallIndex();
  }
  /// Operation `op` has received `message`, and was posted before.
  void completed_posted(size_t op, const trace::MpiMessage& message) {
    const auto it = std::find_if(awaited_.begin(), awaited_.end(),
                                 [op](const Awaited& awaited) { return awaited.op == op; });
    if (it == awaited_.end()) return;
    facts_.probes.push_back(
        {it->probe, message.comm, message.peer, message.tag, message.probe, Time::max(), true});
    ++facts_.inferred;
    awaited_.erase(it);
  }
  /// The message of operation `op` was received. Partitions of a partitioned message may have been
  /// tested for before: the wait for it begins after that.
  void received(size_t op, AskingRegion region, bool partitioned) {
    if ((region.polls || partitioned) && since_ != Time::max()) {
      facts_.polled.push_back({static_cast<uint32_t>(op), since_});
    }
    completed();
  }

  /// Collective `op` was completed. Whether others had asked before.
  bool completed_collective(size_t op, AskingRegion region) {
    const bool polled = region.polls && since_ != Time::max();
    if (polled) facts_.polled_collectives.push_back({static_cast<uint32_t>(op), since_});
    completed();
    return polled;
  }

  /// Act `act` ended an exposure of a window.
  void ended_exposure(size_t act, AskingRegion region) {
    if (region.polls && since_ != Time::max()) {
      facts_.polled_windows.push_back({static_cast<uint32_t>(act), since_});
    }
    completed();
  }

  ProbeFacts take() { return std::move(facts_); }

 private:
  struct Awaited {
    size_t op;
    CallIndex probe;
  };

  ProbeFacts facts_;
  CallIndex silent_;
  bool recorded_ = false;         // this writer says what probes find
  std::vector<Awaited> awaited_;  // receives that probes have found messages for, still open
  Time since_ = Time::max();
  bool ending_ = false;
};

}  // namespace culprit::replay
