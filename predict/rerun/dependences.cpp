// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The models one after the other; and what several of them need.
#include "predict/rerun/dependences.h"

#include <algorithm>
#include <string_view>

namespace culprit::predict {

using replay::Pattern;
using replay::Run;
using replay::Wait;
using replay::WaitGraph;

namespace {

uint32_t since(const Moment& at) {
  const int64_t nanos = (at.time - at.call).nanos();
  return static_cast<uint32_t>(std::clamp<int64_t>(nanos, 0, UINT32_MAX));
}

}  // namespace

void Dependences::signal(HubId hub, const Moment& at) {
  Hub& to = hubs[hub.index()];
  ++to.signals;
  to.time = std::max(to.time, at.time);
  marks.push_back({at.time, at.location, since(at), static_cast<uint32_t>(hub.index()),
                   MarkKind::signal, GateKind::other});
}

void Dependences::gate(HubId hub, const Moment& at, GateKind kind) {
  marks.push_back(
      {at.time, at.location, since(at), static_cast<uint32_t>(hub.index()), MarkKind::gate, kind});
}

void Dependences::edge(const Moment& from, const Moment& to, GateKind kind) {
  if (from.location == to.location) return;
  const HubId hub = add_hub();
  signal(hub, from);
  gate(hub, to, kind);
}

void Dependences::append(Dependences&& other) {
  const auto first_hub = static_cast<uint32_t>(hubs.size());
  const auto first_holding = static_cast<uint32_t>(holdings.size());
  for (Hub hub : other.hubs) {
    if (hub.next.valid()) hub.next = HubId(hub.next.index() + first_hub);
    hubs.push_back(hub);
  }
  for (Holding holding : other.holdings) {
    holding.lock = LockId(holding.lock.index() + locks);
    holdings.push_back(holding);
  }
  for (Mark mark : other.marks) {
    const bool of_hub = mark.kind == MarkKind::signal || mark.kind == MarkKind::gate;
    mark.target += of_hub ? first_hub : first_holding;
    marks.push_back(mark);
  }
  for (const Idle& idle : other.idle) this->idle.push_back(idle);
  locks += other.locks;
  other = {};
}

Dependences find_dependences(const Run& run, unsigned threads) {
  Dependences found;
  add_messages(run, threads, found);
  add_collectives(run, threads, found);
  add_openmp(run, threads, found);
  add_threads(run, found);
  add_devices(run, threads, found);
  return found;
}

namespace {

/// Whether the files of the models know these waits' dependences already.
bool is_known(Pattern pattern) {
  const std::string_view id = replay::text(pattern).id;
  if (id.starts_with("omp.task") || id == "omp.dependence") return false;
  if (id.starts_with("omp.")) return true;
  if (id.starts_with("mpi.rma.")) return id == "mpi.rma.fence";
  if (id.starts_with("mpi.")) return id != "mpi.polling";
  if (id.starts_with("thread.")) return true;
  if (id.starts_with("dev.")) return id != "dev.communication";
  return id == "run.early_end";
}

}  // namespace

void add_waits(const Run& run, const WaitGraph& graph, Dependences& found) {
  for (LocationId id : run.locations) {
    for (const Wait& wait : graph.waits[id.index()]) {
      if (is_known(wait.pattern)) continue;
      const bool of_task = replay::text(wait.pattern).id.starts_with("omp.");
      const Moment cause =
          of_task ? Moment::first(wait.cause, wait.end) : Moment{wait.cause, wait.end, wait.end};
      found.edge(cause, {id, wait.end, wait.begin});
    }
  }
}

}  // namespace culprit::predict
