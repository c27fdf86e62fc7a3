// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/unit/blame/random_trace.h"

#include <algorithm>
#include <random>

#include "tests/unit/blame/random_program.h"

namespace culprit::testing_support {

RandomTrace RandomTrace::make(uint32_t seed, RandomShape shape) {
  return RandomProgram(seed, shape).run();
}

void RandomTrace::make_chaotic(uint32_t seed) {
  std::mt19937 random(seed);
  for (std::vector<Event>& events : events_) {
    std::vector<Time> times;
    for (const Event& event : events) {
      const int64_t shake = std::uniform_int_distribution<int64_t>(-40, 40)(random);
      times.push_back(Time::from_nanos(std::max<int64_t>(0, event.time.nanos() + shake)));
    }
    std::sort(times.begin(), times.end());
    for (size_t i = 0; i < events.size(); ++i) events[i].time = times[i];
  }
}

}  // namespace culprit::testing_support
