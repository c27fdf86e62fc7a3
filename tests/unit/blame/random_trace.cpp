// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/unit/blame/random_trace.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>

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

void RandomTrace::make_skewed(uint32_t seed, bool by_node) {
  std::mt19937 random(seed);
  const auto pick = [&](int64_t most) {
    return std::uniform_int_distribution<int64_t>(-most, most)(random);
  };
  struct Clock {
    int64_t offset, drift;  ///< nanoseconds, nanoseconds a microsecond
  };
  std::map<std::string, Clock> clocks;
  for (size_t l = 0; l < events_.size(); ++l) {
    const trace::Process& process =
        definitions_.processes[definitions_.locations[l].process.index()];
    const std::string name = by_node ? process.node : std::to_string(process.rank);
    const auto [known, fresh] = clocks.try_emplace(name);
    if (fresh) known->second = {pick(50'000), pick(50)};
    for (Event& event : events_[l]) {  // a nanosecond has become a microsecond
      const int64_t time = event.time.nanos();
      event.time =
          Time::from_nanos(1000 * time + time * known->second.drift + known->second.offset);
    }
  }
}

}  // namespace culprit::testing_support
