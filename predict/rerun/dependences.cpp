// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The models one after the other; and what several of them need.
#include "predict/rerun/dependences.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/ranks/agree.h"
#include "trace/mpi_calls.h"

namespace culprit::predict {

using replay::Pattern;
using replay::Run;
using replay::Wait;
using replay::WaitGraph;

namespace {

Mark mark_at(const Moment& at, MarkKind kind, size_t target, uint32_t delivery) {
  const int64_t nanos = (at.time - at.call).nanos();
  const auto since = static_cast<uint32_t>(std::clamp<int64_t>(nanos, 0, UINT32_MAX));
  return {at.time, at.location, since, static_cast<uint32_t>(target), static_cast<uint32_t>(kind),
          delivery};
}

}  // namespace

size_t Deliveries::Hash::operator()(const Delivery& delivery) const {
  const uint64_t hops = uint64_t{delivery.near_hops} << 32 | delivery.far_hops;
  return std::hash<uint64_t>()(delivery.bytes * 0x9E3779B97F4A7C15 ^ hops);
}

uint32_t Deliveries::add(const Delivery& delivery) {
  if (delivery.hops() == 0) return kNone;
  const auto [place, is_new] = places_.try_emplace(delivery, static_cast<uint32_t>(list_.size()));
  if (is_new) list_.push_back(delivery);
  return place->second;
}

void Unknowns::add(const Unknowns& other) {
  sends += other.sends;
  least_bytes = std::min(least_bytes, other.least_bytes);
  most_bytes = std::max(most_bytes, other.most_bytes);
  choices += other.choices;
  polled += other.polled;
}

/// Marks are most of what dependences take, so they stand for it.
void Dependences::put(const Mark& mark) {
  constexpr uint32_t kAtOnce = 256;
  if (spent) return;
  marks.push_back(mark);
  if (budget == nullptr || ++unspent_ < kAtOnce) return;
  try {
    budget->spend(std::exchange(unspent_, 0));
  } catch (const BudgetSpent&) {
    if (stops) throw;
    spent = true;
  }
}

void Dependences::signal(HubId hub, const Moment& at) {
  Hub& to = hubs[hub.index()];
  ++to.signals;
  to.time = std::max(to.time, at.time);
  put(mark_at(at, MarkKind::signal, hub.index(), Deliveries::kNone));
}

void Dependences::gate(HubId hub, const Moment& at, const Delivery& delivery) {
  put(mark_at(at, MarkKind::gate, hub.index(), deliveries.add(delivery)));
}

void Dependences::edge(const Moment& from, const Moment& to, const Delivery& delivery) {
  if (from.location == to.location) return;
  const HubId hub = add_hub();
  signal(hub, from);
  gate(hub, to, delivery);
}

void Dependences::hold(const Holding& holding, const Moment& asked, const Moment& released) {
  const auto mark = [&](const Moment& at, MarkKind kind) {
    put(mark_at(at, kind, holdings.size(), Deliveries::kNone));
    holdings.push_back(holding);
  };
  mark(asked, MarkKind::lock_asked);
  mark(released, MarkKind::lock_released);
}

void Dependences::append(Dependences&& other) {
  const bool blank = marks.empty() && hubs.empty() && idle.empty() && deliveries.size() == 1 &&
                     loops.empty() && pools.empty();
  if (blank) {
    other.unknowns.add(unknowns);
    other.budget = budget;
    other.stops = stops;
    other.spent |= spent;
    *this = std::exchange(other, {});
    return;
  }
  const auto first_hub = static_cast<uint32_t>(hubs.size());
  const auto first_holding = static_cast<uint32_t>(holdings.size());
  const auto first_last = static_cast<uint32_t>(lasts.size());
  const auto first_meeting = static_cast<uint32_t>(meetings.size());
  for (const Last& last : other.lasts) lasts.push_back(last);
  for (const Meeting& meeting : other.meetings) meetings.push_back(meeting);
  loops.insert(loops.end(), other.loops.begin(), other.loops.end());
  pools.resize(std::max(pools.size(), other.pools.size()));
  for (size_t i = 0; i < other.pools.size(); ++i) pools[i] = std::max(pools[i], other.pools[i]);
  for (Hub hub : other.hubs) {
    if (hub.next.valid()) hub.next = HubId(hub.next.index() + first_hub);
    if (hub.last != Hub::kNone) hub.last += first_last;
    if (hub.meeting != Hub::kNone) hub.meeting += first_meeting;
    hubs.push_back(hub);
  }
  for (Holding holding : other.holdings) {
    holding.lock = LockId(holding.lock.index() + locks);
    holdings.push_back(holding);
  }
  std::vector<uint32_t> deliveries_here(other.deliveries.size());
  for (uint32_t i = 0; i < deliveries_here.size(); ++i) {
    deliveries_here[i] = deliveries.add(other.deliveries[i]);
  }
  for (Mark mark : other.marks) {
    const bool of_hub = mark.kind() == MarkKind::signal || mark.kind() == MarkKind::gate;
    mark.target += of_hub ? first_hub : first_holding;
    mark.delivery = deliveries_here[mark.delivery];
    marks.push_back(mark);
  }
  for (const Idle& idle : other.idle) this->idle.push_back(idle);
  unknowns.add(other.unknowns);
  locks += other.locks;
  contended += other.contended;
  spent |= other.spent;
  other = {};
}

namespace {

/// Visits of calls that take what is there first.
uint64_t count_choices(const Run& run) {
  uint64_t choices = 0;
  for (size_t p = 0; p < run.callpaths.size(); ++p) {
    const RegionId region = run.callpaths[CallPathId(p)].region;
    if (!region.valid()) continue;
    if (!trace::is_mpi_call(run.regions[region.index()], trace::MpiTrait::chooses)) continue;
    for (LocationId id : run.locations) {
      const std::vector<uint64_t>& visits = run.visits[id.index()];
      if (p < visits.size()) choices += visits[p];
    }
  }
  return choices;
}

}  // namespace

Dependences find_dependences(const Run& run, unsigned threads, Budget* budget) {
  Dependences found;
  found.budget = budget;
  found.stops = run.ranks->alone();
  found.unknowns.choices = count_choices(run);
  const auto stop_if_spent = [&] {
    if (any(*run.ranks, found.spent)) throw BudgetSpent();
  };
  add_messages(run, threads, found);
  stop_if_spent();
  add_collectives(run, threads, found);
  stop_if_spent();
  add_one_sided(run, threads, found);
  add_openmp(run, threads, found);
  add_threads(run, found);
  add_devices(run, threads, found);
  stop_if_spent();
  found.budget = nullptr;
  return found;
}

Dependences part_of(const Dependences& all) {
  Dependences part;
  part.budget = all.budget;
  part.stops = all.stops;
  return part;
}

namespace {

/// Whether a model's own file finds all that such waits are for.
bool is_known(Pattern pattern) {
  const std::string_view id = replay::text(pattern).id;
  if (id.starts_with("omp.task") || id == "omp.dependence") return false;
  if (id.starts_with("omp.")) return true;
  if (id.starts_with("mpi.rma.")) return id == "mpi.rma.fence";
  if (id.starts_with("mpi.")) return id != "mpi.polling";
  if (id.starts_with("thread.")) return true;
  if (id.starts_with("dev.")) return id != "dev.communication";
  return id == "run.early_end" || id == "run.start_skew";
}

/// The end of a wait, and the location that caused it.
struct End {
  LocationId location;
  const Wait* wait;
  bool found = false;
  auto key() const { return std::tuple(location, wait->end); }
};

/// Marks the waits that end at a gate or at a request of a lock: these may have to wait again.
void mark_found(const Column<Mark>& marks, std::vector<End>& ends) {
  std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) { return a.key() < b.key(); });
  for (const Mark& mark : marks) {
    if (mark.kind() != MarkKind::gate && mark.kind() != MarkKind::lock_asked) continue;
    const std::tuple at(mark.location, mark.time);
    auto end = std::lower_bound(ends.begin(), ends.end(), at,
                                [](const End& e, const auto& key) { return e.key() < key; });
    for (; end != ends.end() && end->key() == at; ++end) end->found = true;
  }
}

}  // namespace

void add_waits(const Run& run, const WaitGraph& graph, Dependences& found) {
  add_progress(run, graph, found);
  std::vector<End> ends;
  for (LocationId id : run.locations) {
    for (const Wait& wait : graph.waits[id.index()]) {
      if (!is_known(wait.pattern)) ends.push_back({id, &wait});
    }
  }
  if (ends.empty()) return;
  mark_found(found.marks, ends);
  for (const auto& [id, wait, is_found] : ends) {
    if (is_found) continue;
    const bool of_task = replay::text(wait->pattern).id.starts_with("omp.");
    const Moment cause =
        of_task ? Moment::first(wait->cause, wait->end) : Moment{wait->cause, wait->end, wait->end};
    found.edge(cause, {id, wait->end, wait->begin});
  }
}

}  // namespace culprit::predict
