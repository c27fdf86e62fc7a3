// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What replay keeps of probes and of tests that found nothing.
#pragma once

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/column.h"
#include "base/ids.h"
#include "base/time.h"
#include "replay/calls.h"
#include "trace/events.h"

namespace culprit::replay {

/// A probe that found a message.
struct Probe {
  CallIndex call;
  CommId comm;
  uint32_t peer;  ///< as in trace::MpiMessage, and so are tag and number
  int32_t tag;
  trace::MatchedProbe number;
  Time polled_since;  ///< as in PolledReceive; Time::max(): nobody had asked before
  bool waits;         ///< MPI_Probe, MPI_Mprobe
};

/// A receive that a test completed after others had found nothing.
struct PolledReceive {
  uint32_t op;  ///< index of the operation
  Time since;   ///< enter of the first fruitless test since anything else was completed
};

struct ProbeFacts {
  Column<Probe> probes;
  Column<PolledReceive> polled;

  void release() {
    probes.release();
    polled.release();
  }
};

/// How a region asks for messages.
struct AskingRegion {
  bool polls = false;   ///< MPI_Test*, MPI_Request_get_status*, MPI_Iprobe, MPI_Improbe
  bool probes = false;  ///< MPI_Probe, MPI_Mprobe: until there is one
};
AskingRegion asking_region_of(std::string_view name);

/// Collects them while the events of one location are read.
class ProbeBuilder {
 public:
  /// A call of a polling region was left in which nothing had happened.
  void fruitless(Time enter) { since_ = std::min(since_, enter); }
  /// In the call that is open something was completed that one could poll for. Whoever polls later
  /// polls for the next.
  void completed() { ending_ = true; }
  /// A call was left in which something had happened.
  void left_call() {
    if (ending_) since_ = Time::max();
    ending_ = false;
  }

  void probed(const trace::MpiMessage& found, AskingRegion region, CallIndex call) {
    facts_.probes.push_back({call, found.comm, found.peer, found.tag, found.probe,
                             region.polls ? since_ : Time::max(), region.probes});
    completed();
  }
  void received(size_t op, AskingRegion region) {
    if (region.polls && since_ != Time::max()) {
      facts_.polled.push_back({static_cast<uint32_t>(op), since_});
    }
    completed();
  }

  ProbeFacts take() { return std::move(facts_); }

 private:
  ProbeFacts facts_;
  Time since_ = Time::max();
  bool ending_ = false;
};

}  // namespace culprit::replay
