// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Executes a graph again, at another pace. A location runs on until it must wait for another; locks
// are given in the order of the new times to who has asked, of several to the one that had it first
// in the recorded run, or always in recorded order.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "predict/rerun/event_graph.h"

namespace culprit::predict {

/// How long steps take. What is not given takes as long as it took.
struct Pace {
  /// By LocationId: for each call path its factor; null: one for all.
  std::vector<const std::vector<double>*> factors;
  double latency = 1, transfer_time = 1;  ///< factors for the two parts of a transfer
  /// Of each hop of data on its way to a location, besides.
  std::function<Duration(LocationId)> message_delay;
  /// Nanoseconds that each hop of a transfer takes longer, by its call path; null: none.
  const std::vector<double>* added_latency = nullptr;
  /// Of a stretch of work at one location, besides (negative: less, down to nothing).
  std::function<Duration(LocationId, Duration)> noise;
  bool recorded_turns = false;  ///< of locks
  /// By LocationId: what its steps take instead, in nanoseconds, or kAsItWas; null: nothing does.
  std::vector<const Column<double>*> times;
};
inline constexpr double kAsItWas = -1;

/// A location's recorded time and when that is in the new run; linear in between. Two at one
/// recorded time are a jump: what happened then happens before it.
struct Knot {
  Time recorded, replayed;
};

struct Execution {
  Time end;                         ///< of the location that ends last
  std::vector<Time> ends;           ///< by LocationId; of those without steps the begin
  std::vector<Column<Knot>> knots;  ///< by LocationId, if they were asked for
  Duration waiting;                 ///< sum of what gates and locks were waited for
  uint64_t forced = 0;              ///< gates passed without what they wait for: a circle
  Duration wall(const EventGraph& graph) const { return end - graph.begin; }
};

enum class Keep : uint8_t { ends, knots };

Execution execute(const EventGraph& graph, const Pace& pace, Keep keep);

/// Whether locks come out better in recorded order: decided anew they leave an unchanged run by
/// more than a thousandth.
bool needs_recorded_turns(const EventGraph& graph);

}  // namespace culprit::predict
