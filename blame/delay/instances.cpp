// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Each thread keeps its longest waits and the lists are merged, so the result does not depend on
// the number of threads. Only the chosen waits are explained.
#include "blame/delay/instances.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <tuple>

#include "base/parallel.h"
#include "base/ranks/exchange.h"
#include "blame/profile/stretches.h"

namespace culprit::blame {

namespace {

using replay::Wait;

struct Instance {
  Wait wait;
  LocationId location;
};

bool worse(const Instance& a, const Instance& b) {
  return std::tie(b.wait.amount, a.wait.begin, a.location) <
         std::tie(a.wait.amount, b.wait.begin, b.location);
}

/// The worst of each pattern, sorted.
class Worst {
 public:
  void add(const Wait& wait, LocationId location) {
    std::vector<Instance>& list = lists_[static_cast<size_t>(wait.pattern)];
    if (list.size() == kWorstInstances) {
      const Instance& last = list.back();
      if (wait.amount < last.wait.amount || !worse({wait, location}, last)) return;
      list.pop_back();
    }
    const Instance instance{wait, location};
    list.insert(std::upper_bound(list.begin(), list.end(), instance, worse), instance);
  }
  /// Returns all as one list, by pattern.
  std::vector<Instance> all() const {
    std::vector<Instance> all;
    for (const auto& list : lists_) all.insert(all.end(), list.begin(), list.end());
    return all;
  }

 private:
  std::array<std::vector<Instance>, replay::kPatterns.size()> lists_;
};

/// Finds the longest waits of all ranks.
std::vector<Instance> find_worst(const replay::Run& run, const replay::WaitGraph& graph,
                                 unsigned threads, Budget& budget) {
  std::vector<Worst> by_location(run.locations.size());
  parallel_for(run.locations.size(), threads, [&](size_t i) {
    const LocationId id = run.locations[i];
    budget.spend(graph.waits[id.index()].size());
    for (const Wait& wait : graph.waits[id.index()]) {
      if (replay::counts_as_waiting(wait.pattern)) by_location[i].add(wait, id);
    }
  });
  const auto join = [](const auto& instances) {
    Worst all;
    for (const Instance& instance : instances) all.add(instance.wait, instance.location);
    return all.all();
  };
  std::vector<Instance> own;
  for (const Worst& worst : by_location) {
    const std::vector<Instance> some = worst.all();
    own.insert(own.end(), some.begin(), some.end());
  }
  return join(concatenate(*run.ranks, join(own)));
}

/// The facts about a wait that only the rank of its cause knows.
struct Explained {
  uint32_t instance;
  CallPathId path;  ///< what the late location did most of that the waiting one did not
  double indirect_s;
};

/// The excess vector of a wait that shares it, written out.
Column<Excess> write_out(const replay::Run& run, const replay::WaitGraph& graph, LocationId late,
                         const SharedExcess& shared, std::span<const Excess> less) {
  std::map<CallPathId, Duration> sums;
  for_each_stretch(run, late, graph.waits[late.index()], shared.begin, shared.end,
                   [&](Time begin, Time end, CallPathId path, const Wait* wait) {
                     if (wait == nullptr) sums[path] += end - begin;
                   });
  for (const Excess& entry : less) sums[entry.path()] -= entry.time();
  Column<Excess> excess;
  for (const auto& [path, time] : sums) {
    if (time > Duration::zero()) excess.push_back(Excess(time, path));
  }
  return excess;
}

/// The wait with this number among those that `late` caused.
const CausedWait& find_caused(WaitRef ref, const Wait& wait, LocationId late,
                              const DelayAnalysis& delays) {
  const Column<CausedWait>& caused = delays.caused[late.index()];
  const CausedWait* found =
      std::lower_bound(caused.begin(), caused.end(), wait.end,
                       [](const CausedWait& c, Time end) { return c.end < end; });
  while (found->ref.location != ref.location || found->ref.wait != ref.wait) ++found;
  return *found;
}

Column<Excess> excess_of(const CausedWait& cause, LocationId late, const replay::Run& run,
                         const replay::WaitGraph& graph, const DelayAnalysis& delays) {
  const auto place = static_cast<uint32_t>(&cause - delays.caused[late.index()].begin());
  const Column<Excess>& all = delays.excess[late.index()];
  const std::span<const Excess> entries(all.begin() + cause.first_excess,
                                        all.begin() + cause.end_excess);
  for (const SharedExcess& shared : delays.shared[late.index()]) {
    if (shared.place != place) continue;
    return write_out(run, graph, late, shared, entries);
  }
  Column<Excess> excess;
  for (const Excess& entry : entries) excess.push_back(entry);
  return excess;
}

Explained explain(uint32_t number, const Instance& instance, const replay::Run& run,
                  const replay::WaitGraph& graph, const DelayAnalysis& delays) {
  const Column<Wait>& waits = graph.waits[instance.location.index()];
  const Wait& sought = instance.wait;
  const Wait* wait = nullptr;
  if (run.owns(instance.location)) {
    wait = std::lower_bound(waits.begin(), waits.end(), sought.begin,
                            [](const Wait& w, Time begin) { return w.begin < begin; });
  } else {  // waits of remote locations: ties follow the waits
    wait = std::find_if(waits.begin(), waits.end(), [&](const Wait& w) {
      return w.begin == sought.begin && w.end == sought.end && w.cause == sought.cause;
    });
  }
  const WaitRef ref{instance.location, static_cast<uint32_t>(wait - waits.begin())};
  const CausedWait& cause = find_caused(ref, *wait, wait->cause, delays);
  const Column<Excess> vector = excess_of(cause, wait->cause, run, graph, delays);
  const Excess* most = nullptr;
  for (const Excess& excess : vector) {
    if (most == nullptr ||
        std::tuple(most->time(), excess.path()) < std::tuple(excess.time(), most->path())) {
      most = &excess;
    }
  }
  return {number, most != nullptr ? most->path() : CallPathId::none(),
          cause.late.indirect_s(wait->amount)};
}

}  // namespace

std::vector<FoundInstance> worst_instances(const replay::Run& run, const replay::WaitGraph& graph,
                                           const DelayAnalysis& delays, unsigned threads,
                                           Budget& budget) {
  const std::vector<Instance> worst = find_worst(run, graph, threads, budget);
  std::vector<Explained> explained;
  std::vector<FoundInstance> found;
  for (const Instance& instance : worst) {
    const Wait& wait = instance.wait;
    if (run.owns(wait.cause)) {
      budget.spend(delays.shared[wait.cause.index()].size());
      explained.push_back(
          explain(static_cast<uint32_t>(found.size()), instance, run, graph, delays));
    }
    found.push_back({std::string(replay::text(wait.pattern).id), wait.path, instance.location,
                     (wait.begin - run.begin).seconds(), (wait.end - run.begin).seconds(),
                     wait.amount.seconds(), wait.cause, CallPathId::none(), 0});
  }
  for (const Explained& known : concatenate(*run.ranks, explained)) {
    found[known.instance].cause_callpath = known.path;
    found[known.instance].indirect_s = known.indirect_s;
  }
  return found;
}

}  // namespace culprit::blame
