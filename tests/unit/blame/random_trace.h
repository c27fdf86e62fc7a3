// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Random traces for property tests: a random program of several ranks with threads is simulated
// (random_program.h), so that every wait has its cause. make_chaotic then shakes all times (within
// what a location's order allows), which no clock does; make_skewed gives the trace clocks that
// disagree. Sources in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "trace/source.h"

namespace culprit::testing_support {

struct RandomShape {
  /// Times from a wide range, so that no two things happen at once by chance. Otherwise many do,
  /// and much lasts no time.
  bool no_ties = false;
  /// Processes are defined in another order, and are other ranks of the world: names and nothing
  /// else.
  bool renamed = false;
  /// No one-sided communication: what had to come first in it repairs no clock.
  bool no_windows = false;
  /// Only what the oracle knows (oracle.h): ranks of one thread, messages and collectives.
  bool plain = false;
  /// Locations are numbered by thread, and then by process.
  bool scattered = false;
  /// How many MPI ranks there are. 0: two to six.
  uint32_t ranks = 0;
};

class RandomTrace : public trace::Source {
 public:
  static RandomTrace make(uint32_t seed, RandomShape shape = {});
  /// Moves each event's time at random; order within a location stays.
  void make_chaotic(uint32_t seed);
  /// Gives each node, or each process, a clock of its own, that is wrong and runs fast or slow.
  void make_skewed(uint32_t seed, bool by_node);
  /// All clocks of the trace.
  void shift(Duration by) { shift_ = by; }

  const trace::Definitions& definitions() const override { return definitions_; }
  Result<void> read(LocationId location, trace::EventSink& sink, Losses&) const override {
    for (const Event& event : events_[location.index()]) event.play(sink, event.time + shift_);
    return {};
  }
  /// By process: which one it would be without RandomShape::renamed.
  const std::vector<uint32_t>& original_ranks() const { return original_ranks_; }

 private:
  friend class RandomProgram;
  struct Event {
    Time time;
    std::function<void(trace::EventSink&, Time)> play;
  };
  trace::Definitions definitions_;
  std::vector<std::vector<Event>> events_;
  std::vector<uint32_t> original_ranks_;
  Duration shift_;
};

}  // namespace culprit::testing_support
