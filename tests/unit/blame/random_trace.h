// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Random traces for property tests. `make_plausible` simulates a random program of several ranks
// with threads, so that every wait has its cause; `make_chaotic` then shakes all times (within what
// a location's order allows), as clocks that disagree would. Both are Sources in memory.
#pragma once

#include <functional>
#include <random>
#include <vector>

#include "trace/source.h"

namespace culprit::testing_support {

class RandomTrace : public trace::Source {
 public:
  static RandomTrace make_plausible(uint32_t seed);
  /// Moves each event's time at random; order within a location stays.
  void make_chaotic(uint32_t seed);

  const trace::Definitions& definitions() const override { return definitions_; }
  Result<void> read(LocationId location, trace::EventSink& sink, Losses&) const override {
    for (const Event& event : events_[location.index()]) event.play(sink, event.time);
    return {};
  }

 private:
  friend class Simulator;
  struct Event {
    Time time;
    std::function<void(trace::EventSink&, Time)> play;
  };
  trace::Definitions definitions_;
  std::vector<std::vector<Event>> events_;
};

}  // namespace culprit::testing_support
