// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Finds which message a probe found, and which message tests waited for. A matched probe's message
// is that of the receive which names it. An ordinary probe's is the next one that its process
// receives from the same rank, on the same communicator and with the same tag, by a receive posted
// after the probe: messages do not overtake. Threads that probe and receive with equal arguments
// may take each other's messages.
#pragma once

#include <optional>
#include <vector>

#include "base/flat_map.h"
#include "replay/detect/detection.h"
#include "replay/match/messages.h"

namespace culprit::replay {

/// A probe with the send of what it found.
struct FoundProbe {
  LocationId location, sender;
  const Probe& probe;
  Call call, sent;
};

/// Finds the probes of one process.
class ProbeFinder {
 public:
  ProbeFinder(const Run& run, ProcessId process);

  struct Polled {
    LocationId location;
    Polling stretch;  ///< may be empty
  };
  /// Takes a message that the process received. Returns the polling, if a test found the message
  /// after earlier tests had not.
  std::optional<Polled> received(const MatchedMessage& message);
  /// Call after all messages: calls `visit(const FoundProbe&)` for each probe whose message is
  /// known.
  template <class Visit>
  void finish(const Visit& visit) {
    sort();
    for (const auto& [location, probe] : probes_) {
      const Call call = run_.call(location, probe->call);
      if (const Received* found = find(*probe, call)) {
        visit(FoundProbe{location, found->sender, *probe, call, found->sent});
      }
    }
  }

 private:
  struct Received {
    CommId comm;
    uint32_t peer;
    int32_t tag;
    Time order;  ///< enter of the matched probe, or of the receive's posting
    LocationId sender;
    Call sent;
  };
  struct Place {
    LocationId location;
    const Probe* probe;
  };

  void sort();
  const Received* find(const Probe& probe, const Call& call) const;
  std::optional<Polled> find_polled(const MatchedMessage& message) const;

  const Run& run_;
  std::vector<Place> probes_;
  FlatMap channels_;  // by a hash of channels that were probed; several may share one
  FlatMap polled_;    // by location and operation: which of its polled receives
  Column<Received> received_;
};

/// Sorts the polling intervals of one location and cuts overlaps, so that each second counts once.
void separate(Column<Polling>& pollings);

}  // namespace culprit::replay
