// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Hubs, holdings and locks of all ranks get numbers one rank after the other; what stands for a hub
// of another rank is left without steps.
#include "predict/rerun/ranks/gather_graph.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/parallel.h"
#include "base/ranks/exchange.h"

namespace culprit::predict {

namespace {

/// Of all ranks: about 1 to 2 GiB, with what they take instead in each of a few executions.
constexpr uint64_t kMostSteps = uint64_t{1} << 25;

struct Counts {
  uint64_t steps = 0, hubs = 0, holdings = 0, locks = 0;

  Counts operator+(const Counts& o) const {
    return {steps + o.steps, hubs + o.hubs, holdings + o.holdings, locks + o.locks};
  }
};

Counts count(const EventGraph& graph) {
  Counts counts{0, graph.hubs.size(), graph.holdings.size(), graph.locks};
  for (const Column<Step>& steps : graph.steps) counts.steps += steps.size();
  return counts;
}

/// The numbers of everything among those of all ranks, instead of this rank's.
class Renumbering {
 public:
  /// `first`: of each rank.
  Renumbering(const EventGraph& graph, const std::vector<HubElsewhere>& hubs,
              const std::vector<Elsewhere>& holdings, const std::vector<Counts>& first, size_t self)
      : first_(first[self]), hubs_(graph.hubs.size()), holdings_(graph.holdings.size()) {
    for (size_t i = 0; i < hubs_.size(); ++i) hubs_[i] = number(first_.hubs + i);
    for (size_t i = 0; i < holdings_.size(); ++i) holdings_[i] = number(first_.holdings + i);
    for (const HubElsewhere& one : hubs) hubs_[one.here] = number(first[one.rank].hubs + one.there);
    for (const Elsewhere& one : holdings) {
      holdings_[one.here] = number(first[one.rank].holdings + one.there);
    }
  }

  void change(EventGraph& graph) const {
    for (Column<Step>& steps : graph.steps) {
      for (Step& step : steps) {
        if (step.is_meeting()) step.what = hubs_[step.what];
        if (step.kind() == StepKind::lock || step.kind() == StepKind::unlock) {
          step.what = holdings_[step.what];
        }
        step.delivery = step.delivery != Deliveries::kNone ? 1 : Deliveries::kNone;
      }
    }
    for (Hub& hub : graph.hubs) {
      if (hub.next.valid()) hub.next = HubId(hubs_[hub.next.index()]);
    }
    for (Holding& holding : graph.holdings) {
      holding.lock = LockId(number(first_.locks + holding.lock.index()));
    }
  }

 private:
  static uint32_t number(uint64_t of_all) { return static_cast<uint32_t>(of_all); }

  const Counts first_;
  std::vector<uint32_t> hubs_, holdings_;
};

std::vector<OtherTimes> times_of(const Alterations& all, const std::vector<AlterationSet>& sets,
                                 const EventGraph& graph, unsigned threads) {
  std::vector<OtherTimes> times(sets.size());
  parallel_for(sets.size(), threads, [&](size_t i) { times[i] = times_with(all, sets[i], graph); });
  return times;
}

Parcel pack(const WholeGraph& own) {
  Packer packer;
  packer.put_list(std::span<const Hub>(own.graph.hubs));
  packer.put_list(std::span<const Holding>(own.graph.holdings));
  for (LocationId id : own.graph.locations) {
    packer.put(id);
    packer.put_list(std::span<const Step>(own.graph.steps[id.index()]));
    for (const OtherTimes& times : own.times) {
      const std::unique_ptr<Column<double>>& mine = times[id.index()];
      packer.put_list(mine == nullptr ? std::span<const double>() : std::span<const double>(*mine));
    }
  }
  return packer.take();
}

template <class T>
void get_column(Unpacker& unpacker, Column<T>& column) {
  unpacker.get_list<T>([&](const T& value) { column.push_back(value); });
}

void unpack(const Parcel& parcel, WholeGraph& whole) {
  Unpacker unpacker(parcel);
  get_column(unpacker, whole.graph.hubs);
  get_column(unpacker, whole.graph.holdings);
  while (!unpacker.done()) {
    const auto id = unpacker.get<LocationId>();
    whole.graph.locations.push_back(id);
    get_column(unpacker, whole.graph.steps[id.index()]);
    for (OtherTimes& times : whole.times) {
      auto mine = std::make_unique<Column<double>>();
      get_column(unpacker, *mine);
      if (!mine->empty()) times[id.index()] = std::move(mine);
    }
  }
}

void count_signals(EventGraph& graph) {
  for (Hub& hub : graph.hubs) hub.signals = 0;
  for (const Column<Step>& steps : graph.steps) {
    for (const Step& step : steps) {
      if (step.kind() == StepKind::signal) ++graph.hubs[step.what].signals;
    }
  }
  for (const Hub& hub : graph.hubs) {
    if (hub.next.valid()) ++graph.hubs[hub.next.index()].signals;
  }
}

}  // namespace

std::optional<WholeGraph> gather_graph(Outline outline, const Alterations& all,
                                       const std::vector<AlterationSet>& sets, unsigned threads) {
  const replay::Run& run = outline.run;
  Transport& ranks = *run.ranks;
  const auto hubs = std::move(outline.found.hubs_elsewhere);
  const auto holdings = std::move(outline.found.holdings_elsewhere);
  WholeGraph own{build_graph(std::move(outline), threads), {}};
  if (ranks.alone()) return own;
  std::vector<Counts> first = gather_everywhere(ranks, count(own.graph));
  Counts sum;
  for (Counts& one : first) one = std::exchange(sum, sum + one);
  if (sum.steps > kMostSteps) throw BudgetSpent();
  Renumbering(own.graph, hubs, holdings, first, ranks.rank()).change(own.graph);
  own.times = times_of(all, sets, own.graph, threads);
  std::vector<Parcel> parcels = gather(ranks, pack(own));
  if (ranks.rank() != 0) return std::nullopt;
  WholeGraph whole;
  whole.graph.begin = run.begin;
  whole.graph.end = run.end;
  whole.graph.locks = static_cast<uint32_t>(sum.locks);
  own = {};
  whole.graph.deliveries.add({.near_hops = 1});
  whole.graph.steps.resize(run.timelines.size());
  for (size_t i = 0; i < sets.size(); ++i) whole.times.emplace_back(run.timelines.size());
  for (Parcel& parcel : parcels) {
    unpack(parcel, whole);
    parcel.release();
  }
  std::sort(whole.graph.locations.begin(), whole.graph.locations.end());
  count_signals(whole.graph);
  return whole;
}

}  // namespace culprit::predict
