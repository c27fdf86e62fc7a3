// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "blame/instances.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/parallel.h"

namespace culprit::blame {

namespace {

using replay::Wait;

struct Instance {
  const Wait* wait;
  LocationId location;
};

bool worse(const Instance& a, const Instance& b) {
  return std::tie(b.wait->amount, a.wait->begin, a.location) <
         std::tie(a.wait->amount, b.wait->begin, b.location);
}

/// The worst of each pattern, sorted.
class Worst {
 public:
  void add(const Instance& instance) {
    std::vector<Instance>& list = lists_[static_cast<size_t>(instance.wait->pattern)];
    if (list.size() == kWorstInstances && !worse(instance, list.back())) return;
    list.insert(std::upper_bound(list.begin(), list.end(), instance, worse), instance);
    if (list.size() > kWorstInstances) list.pop_back();
  }
  const auto& lists() const { return lists_; }

 private:
  std::array<std::vector<Instance>, replay::kPatterns.size()> lists_;
};

/// What the late location did most of that the waiting one did not.
CallPathId main_cause(const DelayAnalysis& delays, LocationId waiter, size_t wait,
                      LocationId late) {
  const WaitCause& cause = delays.causes[waiter.index()][wait];
  const Excess* most = nullptr;
  for (uint32_t e = cause.first_excess; e < cause.end_excess; ++e) {
    const Excess& excess = delays.excess[late.index()][e];
    if (most == nullptr ||
        std::tuple(most->time(), excess.path()) < std::tuple(excess.time(), most->path())) {
      most = &excess;
    }
  }
  return most != nullptr ? most->path() : CallPathId::none();
}

}  // namespace

std::vector<FoundInstance> worst_instances(const replay::Run& run, const replay::WaitGraph& graph,
                                           const DelayAnalysis& delays, unsigned threads) {
  std::vector<Worst> by_location(run.locations.size());
  parallel_for(run.locations.size(), threads, [&](size_t i) {
    const LocationId id = run.locations[i];
    for (const Wait& wait : graph.waits[id.index()]) by_location[i].add({&wait, id});
  });
  Worst all;
  for (const Worst& worst : by_location) {
    for (const auto& list : worst.lists()) {
      for (const Instance& instance : list) all.add(instance);
    }
  }
  std::vector<FoundInstance> found;
  for (const auto& list : all.lists()) {
    for (const auto& [wait, location] : list) {
      const size_t number = static_cast<size_t>(wait - graph.waits[location.index()].data());
      found.push_back({std::string(replay::text(wait->pattern).id), wait->path, location,
                       (wait->begin - run.begin).seconds(), (wait->end - run.begin).seconds(),
                       wait->amount.seconds(), wait->cause,
                       main_cause(delays, location, number, wait->cause),
                       delays.causes[location.index()][number].indirect_s(wait->amount)});
    }
  }
  return found;
}

}  // namespace culprit::blame
