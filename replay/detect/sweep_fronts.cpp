// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A process has a handful of flows, so all ranks get all flows, and each follows them from their
// sources (Kahn's order: flows in a circle are never reached).
#include "replay/detect/sweep_fronts.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/parallel.h"
#include "base/ranks/exchange.h"

namespace culprit::replay {

namespace {

/// What all ranks know of a flow.
struct FlowFact {
  ProcessId process;
  GridDirection direction;
  uint32_t up;  ///< how many it receives from
  uint8_t flow;
  bool relay, sound, repeats;
};

/// The properties that a flow inherits from the flows before it.
struct FlowState {
  size_t open = 0;     ///< edges from flows that are not settled
  uint32_t heard = 0;  ///< processes that it is known to receive from
  bool sound = true, several = false, settled = false;
  bool relay = false, repeats = false;  ///< on the way here
  uint32_t source = UINT32_MAX;
};

/// What one source's flows have in common.
struct SourceState {
  bool relay = false, repeats = false, one_direction = true;
};

class FrontGraph {
 public:
  explicit FrontGraph(std::vector<FlowFact> facts, size_t processes)
      : facts_(std::move(facts)), first_(processes + 1), states_(facts_.size()) {
    std::sort(facts_.begin(), facts_.end(), [](const FlowFact& a, const FlowFact& b) {
      return std::tuple(a.process, a.flow) < std::tuple(b.process, b.flow);
    });
    for (const FlowFact& fact : facts_) ++first_[fact.process.index() + 1];
    for (size_t p = 0; p < processes; ++p) first_[p + 1] += first_[p];
  }

  /// None (UINT32_MAX) for a message that leads no run.
  uint32_t at(ProcessId process, uint8_t flow) const {
    const size_t place = first_[process.index()] + flow;
    return flow != MessageOp::kNoFlow && place < first_[process.index() + 1]
               ? static_cast<uint32_t>(place)
               : UINT32_MAX;
  }

  /// Edges of one flow stand together, by sender.
  template <class Edges>
  void connect(const Edges& edges) {
    ProcessId from;
    uint32_t last = UINT32_MAX;
    for (const auto& edge : edges) {
      const uint32_t to = at(edge.process, edge.flow);
      const uint32_t source = at(edge.from, edge.from_flow);
      FlowState& state = states_[to];
      if (to != last || edge.from != from) ++state.heard;
      last = to, from = edge.from;
      if (source == UINT32_MAX) {
        state.sound = false;
      } else {
        edges_.push_back({source, to});
        ++state.open;
      }
    }
    std::sort(edges_.begin(), edges_.end());
  }

  void follow() {
    find_exchanges();
    std::vector<uint32_t> ready;
    for (uint32_t i = 0; i < states_.size(); ++i) {
      states_[i].sound = states_[i].sound && facts_[i].sound && states_[i].heard == facts_[i].up;
      if (facts_[i].up == 0) states_[i].source = i;
      if (states_[i].open == 0) ready.push_back(i);
    }
    while (!ready.empty()) {
      const uint32_t i = ready.back();
      ready.pop_back();
      settle(i);
      for (auto edge = std::lower_bound(edges_.begin(), edges_.end(), std::pair(i, uint32_t{0}));
           edge != edges_.end() && edge->first == i; ++edge) {
        hand_on(i, edge->second);
        if (--states_[edge->second].open == 0) ready.push_back(edge->second);
      }
    }
    sum_sources();
  }

  bool sweep(uint32_t i) const {
    const FlowState& state = states_[i];
    if (!state.settled || !state.sound) return false;
    if (state.several) return state.relay && state.repeats;
    const SourceState& source = sources_[state.source];
    return source.relay && (source.repeats || source.one_direction);
  }
  /// Returns whether a flow comes from one corner, whether or not that is enough for a sweep.
  bool front(uint32_t i) const {
    return states_[i].settled && states_[i].sound && !states_[i].several;
  }
  /// None: several.
  ProcessId corner(uint32_t i) const {
    return states_[i].several ? ProcessId::none() : facts_[states_[i].source].process;
  }

 private:
  /// Finds exchanges: flows that come directly from a source whose messages no process passes on.
  void find_exchanges() {
    std::vector<bool> passed_on(facts_.size());
    for (const auto& [from, to] : edges_) {
      if (facts_[to].relay) passed_on[from] = true;
    }
    for (const auto& [from, to] : edges_) {
      if (facts_[from].up == 0 && !passed_on[from]) states_[to].sound = false;
    }
  }
  void settle(uint32_t i) {
    FlowState& state = states_[i];
    state.settled = true;
    state.relay = state.relay || facts_[i].relay;
    state.repeats = state.repeats || (facts_[i].relay && facts_[i].repeats);
  }
  void hand_on(uint32_t i, uint32_t to) {
    const FlowState& from = states_[i];
    FlowState& state = states_[to];
    state.sound = state.sound && from.sound;
    state.relay = state.relay || from.relay;
    state.repeats = state.repeats || from.repeats;
    const bool other = state.source != UINT32_MAX && state.source != from.source;
    state.several = state.several || from.several || other;
    state.source = std::min(state.source, from.source);
  }
  void sum_sources() {
    sources_.resize(states_.size());
    for (uint32_t i = 0; i < states_.size(); ++i) {
      const FlowState& state = states_[i];
      if (!state.settled || !state.sound || state.several) continue;
      SourceState& source = sources_[state.source];
      const GridDirection direction = facts_[i].direction;
      source.relay = source.relay || facts_[i].relay;
      source.repeats = source.repeats || (facts_[i].relay && facts_[i].repeats);
      source.one_direction = source.one_direction && direction != kNoDirection &&
                             direction == facts_[state.source].direction;
    }
  }

  std::vector<FlowFact> facts_;                       // by process and flow
  std::vector<size_t> first_;                         // by process, and one more
  std::vector<FlowState> states_;                     // as facts_
  std::vector<SourceState> sources_;                  // likewise, of sources
  std::vector<std::pair<uint32_t, uint32_t>> edges_;  // from, to
};

}  // namespace

SweepFronts::SweepFronts(Run& run, unsigned threads)
    : grids_(*run.definitions),
      sweeps_(run.definitions->processes.size()),
      edge_sets_(sweeps_.size()),
      turns_(sweeps_.size()) {
  parallel_for(sweeps_.size(), threads, [&](size_t p) {
    if (run.owns(ProcessId(p))) sweeps_[p] = find_sweep_runs(run, ProcessId(p), grids_);
  });
  const bool own = std::any_of(sweeps_.begin(), sweeps_.end(),
                               [](const ProcessSweeps& sweeps) { return sweeps.may_turn(); });
  possible_ = sum(*run.ranks, uint64_t{own}) > 0;
  if (!possible_) sweeps_.clear(), edge_sets_.clear(), turns_.clear();
}

void SweepFronts::received(const Run& run, ProcessId process, const MatchedMessage& message) {
  const uint8_t flow = message.recv.flow;
  if (!possible_ || flow >= sweeps_[process.index()].flows.size()) return;
  EdgeSet& heard = edge_sets_[process.index()];
  const ProcessId from = run.location(message.sent.met_at).process;
  const uint64_t key = uint64_t{flow} << 40 | uint64_t{message.sent.flow} << 32 | from.index();
  const auto fresh = static_cast<uint32_t>(heard.edges.size());
  if (heard.places.at(key, fresh) != fresh) return;
  heard.edges.push_back({process, from, flow, message.sent.flow});
}

void SweepFronts::settle(const Run& run) {
  if (!possible_) return;
  std::vector<FlowFact> facts;
  std::vector<SweepEdge> edges;
  for (size_t p = 0; p < sweeps_.size(); ++p) {
    const std::vector<SweepFlow>& flows = sweeps_[p].flows;
    for (size_t f = 0; f < flows.size(); ++f) {
      facts.push_back({ProcessId(p), flows[f].direction, static_cast<uint32_t>(flows[f].up.size()),
                       static_cast<uint8_t>(f), flows[f].relay(), flows[f].sound,
                       flows[f].repeats});
    }
    std::sort(edge_sets_[p].edges.begin(), edge_sets_[p].edges.end());
    edges.insert(edges.end(), edge_sets_[p].edges.begin(), edge_sets_[p].edges.end());
  }
  edge_sets_.clear();
  FrontGraph graph(concatenate(*run.ranks, facts), sweeps_.size());
  graph.connect(concatenate(*run.ranks, edges));
  graph.follow();
  for (size_t p = 0; p < sweeps_.size(); ++p) judge_runs(ProcessId(p), graph);
}

/// Compares each sweep with the last sweep before it. A corner that sends to all neighbors, and
/// then receives messages from them that are no front, has exchanged with them, even if it starts
/// sweeps at other times.
template <class Graph>
void SweepFronts::judge_runs(ProcessId process, const Graph& graph) {
  const ProcessSweeps& sweeps = sweeps_[process.index()];
  const auto flow_of = [&](size_t run) -> const SweepFlow& {
    return sweeps.flows[sweeps.runs[run].flow];
  };
  const auto place_of = [&](size_t run) { return graph.at(process, sweeps.runs[run].flow); };
  const auto exchanges = [&](size_t run) {
    const SweepFlow& flow = flow_of(run);
    if (!flow.up.empty() || run + 1 >= sweeps.runs.size()) return false;
    const uint32_t next = place_of(run + 1);
    if (graph.front(next) || graph.sweep(next)) return false;
    return flow_of(run + 1).comm == flow.comm && flow_of(run + 1).up == flow.down;
  };
  std::vector<SweepTurn>& turns = turns_[process.index()];
  turns.resize(sweeps.runs.size());
  const SweepFlow* last = nullptr;
  for (size_t i = 0; i < turns.size(); ++i) {
    if (!graph.sweep(place_of(i)) || exchanges(i)) continue;
    const SweepFlow& own = flow_of(i);
    if (last != nullptr && own.against(*last)) turns[i] = {true, graph.corner(place_of(i))};
    last = &own;
  }
}

SweepTurn SweepFronts::turn(ProcessId process, CommId comm, SweepMoment moment) const {
  if (!possible_) return {};
  const size_t run = sweeps_[process.index()].run_at(grids_.whole(comm), moment);
  return run < turns_[process.index()].size() ? turns_[process.index()][run] : SweepTurn{};
}

}  // namespace culprit::replay
