// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Repairs clocks by happened-before relations: no message arrives before it was sent. This is the
// controlled logical clock with forward and backward amortisation (Rabenseifner 1997; Becker,
// Rabenseifner, Linford, Wolf: Scalable timestamp synchronization for event traces of
// message-passing applications, Parallel Computing 35, 2009) on abstract input: clocks, and events
// of theirs that had to wait for events of others.
//
//   forward    where an event comes before one that it had to wait for, its clock is put forward to
//              the latter's time, and then falls back slowly (kFallBack) to what it showed
//   backward   the way up to such a step is spread over the time before it, as far as no event that
//              others waited for overtakes them
//
// A correction belongs to a clock and not to a timeline: locations that share a clock (the threads
// of a process, the processes of a node) keep their order and distances among themselves. The
// minimum latency is taken to be zero: a message cannot arrive early, and nothing more is assumed.
//
// Time and memory are proportional to the number of points added. Impossible input (a waits for b,
// and b for a) is left as it is and counted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/column.h"
#include "base/ids.h"
#include "base/time.h"
#include "replay/clock/map.h"

namespace culprit::replay {

using ClockId = Id<struct ClockTag>;
using ExchangeId = Id<struct ExchangeTag>;

/// Exchanges: an exchange cannot end for any member before all its begins have happened. A message
/// has one begin and one end, a barrier those of all its members, a broadcast the root's begin and
/// all ends.
class Precedence {
 public:
  struct Point {
    Time time;
    ClockId clock;
    ExchangeId exchange;
    bool end;               ///< of equal times, begins come first
    bool given_up = false;  ///< an end that cannot have waited for its begins
  };
  struct Exchange {
    uint32_t begins = 0;  ///< how many, and one for an exchange that it follows
    ExchangeId next;      ///< that follows it
  };

  ExchangeId add_exchange();
  void begins(ExchangeId exchange, ClockId clock, Time time);
  void ends(ExchangeId exchange, ClockId clock, Time time);
  /// Records that `later` also waits for all that `earlier` waits for (a prefix operation is a
  /// chain of exchanges). At most one exchange follows another, and it must have been added after
  /// it.
  void follows(ExchangeId earlier, ExchangeId later);

  void message(ClockId sender, Time sent, ClockId receiver, Time received) {
    const ExchangeId exchange = add_exchange();
    begins(exchange, sender, sent);
    ends(exchange, receiver, received);
  }

  /// Appends the exchanges and points of another Precedence.
  void append(std::span<const Exchange> exchanges, std::span<const Point> points);

  const Column<Point>& points() const { return points_; }
  const Column<Exchange>& exchanges() const { return exchanges_; }

 private:
  Column<Point> points_;        // in the order in which they were added
  Column<Exchange> exchanges_;  // by ExchangeId
};

struct ClockRepair {
  std::vector<ClockMap> maps;  ///< by ClockId
  uint64_t repairs = 0;        ///< events that were put forward because others had to come first
  uint64_t unrepaired = 0;     ///< ends that still come too early: they contradict each other
  Duration largest;            ///< by which a clock was put forward, at most
  Duration total;              ///< of all steps forward
};

/// The result does not depend on the number of threads. `clocks`: the number of clocks.
ClockRepair repair_clocks(const Precedence& precedence, size_t clocks, unsigned threads);

}  // namespace culprit::replay
