// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Executes a graph again, at another pace. A location runs on until it must wait for another; locks
// are given in the order of the new times, or always in recorded order.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "base/progress/budget.h"
#include "predict/rerun/event_graph.h"

namespace culprit::predict {

/// Which of the locations that have requested a lock gets it next.
enum class LockOrder : uint8_t {
  asked,     ///< who asked first
  earlier,   ///< who had it first in the recorded run
  recorded,  ///< nobody but who had it next in the recorded run
};

/// The total time of a delivery's messages: on the machine of the recorded run, and now. A location
/// that comes later than the messages does not wait for them.
struct DeliveryTime {
  Duration before, after;
};

/// How long steps take. Steps without an entry keep their recorded time.
struct Pace {
  /// By LocationId: for each call path its factor; null: one for all.
  std::vector<const std::vector<double>*> factors;
  double latency = 1, transfer_time = 1;  ///< factors for the two parts of a transfer
  /// By place in EventGraph::deliveries, instead of these factors where it is known; empty:
  /// nowhere.
  std::vector<std::optional<DeliveryTime>> deliveries;
  /// Of each hop of data on its way to a location, besides.
  std::function<Duration(LocationId)> message_delay;
  /// Nanoseconds that each hop of a transfer takes longer, by its call path; null: none.
  const std::vector<double>* added_latency = nullptr;
  /// Of a stretch of work at one location, besides (negative: less, down to nothing).
  std::function<Duration(LocationId, Duration)> noise;
  std::vector<bool> quiet;  ///< by LocationId: has no noise, as devices
  /// If true, operations progress while the processes that began them are not in MPI.
  bool with_progress = false;
  CallPathId before_begin;  ///< nobody works there yet: no noise either; none
  LockOrder locks = LockOrder::asked;
  Budget* budget = nullptr;  ///< a step of it for each that is passed; null: there is no end
  /// By LocationId: what its steps take instead, in nanoseconds, or kAsItWas; null: nothing does.
  std::vector<const Column<double>*> times;
};
inline constexpr double kAsItWas = -1;

/// A breakpoint of the map from a location's recorded times to those of the new run; linear in
/// between. Two at one recorded time are a jump: events at that time happen before it.
struct Breakpoint {
  Time recorded, replayed;
};

struct Execution {
  Time end;                                     ///< of the location that ends last
  std::vector<Time> ends;                       ///< by LocationId; of those without steps the begin
  std::vector<Column<Breakpoint>> breakpoints;  ///< by LocationId, if they were asked for
  Duration waiting;                             ///< sum of what gates and locks were waited for
  uint64_t forced = 0;  ///< gates passed without what they wait for: a circle
  Duration wall(const EventGraph& graph) const { return end - graph.begin; }
};

enum class Keep : uint8_t { ends, breakpoints };

Execution execute(const EventGraph& graph, const Pace& pace, Keep keep);

struct LockChoice {
  LockOrder order = LockOrder::asked;
  Duration wall;  ///< what the unchanged run takes with it
};
/// The first order that leaves an unchanged run by less than a thousandth, or else by the least.
LockChoice choose_lock_order(const EventGraph& graph, Budget* budget = nullptr);
/// The same without a budget, returning only the order.
LockOrder best_lock_order(const EventGraph& graph);

}  // namespace culprit::predict
