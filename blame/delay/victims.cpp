// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Only the delays that cost most have their victims listed, since the lists would outgrow
// everything else.
#include "blame/delay/victims.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/flat_map.h"
#include "base/parallel.h"
#include "base/ranks/exchange.h"
#include "blame/delay/excess.h"

namespace culprit::blame {

namespace {

struct TopDelay {
  double cost_s;
  LocationId location;
  CallPathId path;
};

/// Returns the costliest delays of this rank, the largest first. A delay with waits of several
/// patterns counts by its costliest pattern.
std::vector<TopDelay> own_top(const std::vector<DelayCost>& costs) {
  struct Row {
    double cost_s;
    uint32_t row;
    bool operator<(const Row& o) const {
      return cost_s != o.cost_s ? cost_s < o.cost_s : row > o.row;
    }
  };
  std::vector<Row> heap;
  heap.reserve(costs.size());
  for (const DelayCost& cost : costs) {
    heap.push_back({cost.short_s + cost.long_s, static_cast<uint32_t>(heap.size())});
  }
  std::make_heap(heap.begin(), heap.end());
  std::vector<TopDelay> top;
  std::set<std::pair<LocationId, CallPathId>> known;
  while (!heap.empty() && top.size() < kDelaysWithVictims) {
    std::pop_heap(heap.begin(), heap.end());
    const DelayCost& cost = costs[heap.back().row];
    if (known.insert({cost.location, cost.path}).second) {
      top.push_back({heap.back().cost_s, cost.location, cost.path});
    }
    heap.pop_back();
  }
  return top;
}

/// Costs of one late location's delays by waiter.
class Victims {
 public:
  Victims(const replay::Run& run, const replay::WaitGraph& graph, const DelayAnalysis& delays,
          LocationId late, const std::vector<CallPathId>& paths, Budget& budget)
      : graph_(graph),
        delays_(delays),
        late_(late),
        excess_(run, graph, delays, late, paths),
        spender_(budget) {}

  std::vector<FoundVictim> find() {
    const Column<CausedWait>& caused = delays_.caused[late_.index()];
    for (uint32_t place = 0; place < caused.size(); ++place) {
      spender_.step();
      const CausedWait& cause = caused[place];
      if (!replay::counts_as_waiting(cause.pattern)) continue;
      const WaitRef ref = cause.ref;
      const replay::Wait& wait = graph_.wait(ref.location, ref.wait);
      const double cost = cause.share * cause.amount.seconds() / cause.denominator_s();
      excess_.visit(place, cause, [&](CallPathId path, Duration time) {
        spender_.step();
        row_of(path, wait, ref.location).time_s += time.seconds() * cost;
      });
    }
    return std::move(rows_);
  }

 private:
  FoundVictim& row_of(CallPathId path, const replay::Wait& wait, LocationId waiter) {
    const auto next_place = static_cast<uint32_t>(places_.size());
    const uint32_t place =
        places_.at(uint64_t{waiter.index()} << 32 | wait.path.index(), next_place);
    const auto next_kind = static_cast<uint32_t>(kinds_.size());
    const uint32_t kind =
        kinds_.at(uint64_t{path.index()} << 8 | static_cast<uint8_t>(wait.pattern), next_kind);
    const auto fresh = static_cast<uint32_t>(rows_.size());
    const uint32_t row = row_of_.at(uint64_t{place} << 32 | kind, fresh);
    if (row == fresh) {
      rows_.push_back({path, late_, std::string(replay::text(wait.pattern).id), wait.path, waiter});
    }
    return rows_[row];
  }

  const replay::WaitGraph& graph_;
  const DelayAnalysis& delays_;
  const LocationId late_;
  ExcessReader excess_;
  Spender spender_;
  FlatMap places_;  // of waiters: location and call path
  FlatMap kinds_;   // the delay's call path, and the pattern
  FlatMap row_of_;  // by both
  std::vector<FoundVictim> rows_;
};

}  // namespace

std::vector<FoundVictim> find_victims(const replay::Run& run, const replay::WaitGraph& graph,
                                      const DelayAnalysis& delays, unsigned threads,
                                      Budget& budget) {
  std::vector<TopDelay> top = concatenate(*run.ranks, own_top(delays.costs));
  std::stable_sort(top.begin(), top.end(),
                   [](const TopDelay& a, const TopDelay& b) { return a.cost_s > b.cost_s; });
  top.resize(std::min(top.size(), kDelaysWithVictims));
  std::map<LocationId, std::vector<CallPathId>> by_location;
  for (const TopDelay& delay : top) {
    if (run.owns(delay.location)) by_location[delay.location].push_back(delay.path);
  }
  const std::vector<std::pair<LocationId, std::vector<CallPathId>>> lates(by_location.begin(),
                                                                          by_location.end());
  std::vector<std::vector<FoundVictim>> found(lates.size());
  parallel_for(lates.size(), threads, [&](size_t i) {
    found[i] = Victims(run, graph, delays, lates[i].first, lates[i].second, budget).find();
  });
  std::vector<FoundVictim> all;
  for (auto& rows : found) std::move(rows.begin(), rows.end(), std::back_inserter(all));
  return all;
}

}  // namespace culprit::blame
