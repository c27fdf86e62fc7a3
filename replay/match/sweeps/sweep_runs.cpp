// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Sends and receives are merged by time without a copy; each communicator has a state of its own,
// which is as large as a process has neighbors. What never comes to an end (a source only sends) is
// kept as far as it can matter.
#include "replay/match/sweeps/sweep_runs.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "base/flat_map.h"
#include "replay/match/peers.h"
#include "replay/match/sweeps/sweep_phases.h"

namespace culprit::replay {

namespace {

/// More kinds of runs than a process has in any sweep: it does something else.
constexpr size_t kMostFlows = 128;
/// More neighbors than a process has in any sweep, on either side: likewise.
constexpr size_t kMostNeighbors = 64;
/// The number of operations that are kept of a group without end, besides the first of each
/// neighbor.
constexpr size_t kMostKept = 256;

/// One send or receive, in the order of its process.
struct SweepOp {
  SweepMoment moment;
  ProcessId peer;
  CommId comm;
  uint32_t phase;  ///< SweepPhases
  MessageOp* op;
};

using Ops = std::vector<SweepOp>;
using SomeOps = std::span<const SweepOp>;
using Processes = std::vector<ProcessId>;
using Phases = std::array<uint32_t, 2>;  // of receives, of sends

bool contains(const Processes& list, ProcessId process) {
  return std::find(list.begin(), list.end(), process) != list.end();
}

/// Whether it was new.
bool note(Processes& list, ProcessId process) {
  if (contains(list, process)) return false;
  list.push_back(process);
  return true;
}

/// The sends, or the receives, of one location in the order of their moments. Sends are posted one
/// after the other; receives are kept in the order of posting, and mostly come in that order, too.
class OpList {
 public:
  OpList(Run& run, LocationId location, const SweepPhases& phases, bool is_send, bool sorted)
      : run_(run),
        line_(run.at(location)),
        ops_(is_send ? line_.sends : line_.recvs),
        location_(location),
        process_(run.location(location).process),
        is_send_(is_send),
        phases_(phases),
        peers_(run, process_) {
    if (sorted && !is_send) sort();
    advance();
  }

  bool done() const { return next_ > ops_.size(); }
  /// One was earlier than the one before.
  bool unsorted() const { return unsorted_; }
  const SweepOp& head() const { return head_; }
  bool is_send() const { return is_send_; }
  /// To the next one whose peer is known and another process.
  void advance() {
    while (next_ < ops_.size()) {
      MessageOp& op = ops_[order_.empty() ? next_ : order_[next_]];
      ++next_;
      if (op.flow != MessageOp::kNoFlow) op.flow = MessageOp::kNoFlow;
      if (!is_send_ && !op.completed.valid()) continue;
      const ProcessId peer = peers_.of(op);
      if (!peer.valid() || peer == process_) continue;
      const SweepMoment moment = moment_of(op);
      unsorted_ = unsorted_ || moment < head_.moment;
      head_ = {moment, peer, op.comm, phases_.of(run_, location_, op), &op};
      return;
    }
    next_ = ops_.size() + 1;
  }

 private:
  SweepMoment moment_of(const MessageOp& op) const {
    const CallKey key = is_send_ ? op.posted : op.completed;
    if (!key.valid()) return INT64_MIN;
    const Call call = key.is_own() ? line_.calls.get(key.call(), line_.activities)
                                   : run_.call(run_.ref(location_, key));
    return is_send_ ? sent_at(call) : received_at(call);
  }
  void sort() {
    order_.resize(ops_.size());
    std::iota(order_.begin(), order_.end(), 0u);
    std::stable_sort(order_.begin(), order_.end(), [&](uint32_t a, uint32_t b) {
      return moment_of(ops_[a]) < moment_of(ops_[b]);
    });
  }

  const Run& run_;
  Timeline& line_;
  Column<MessageOp>& ops_;
  const LocationId location_;
  const ProcessId process_;
  const bool is_send_;
  const SweepPhases& phases_;
  Peers peers_;
  std::vector<uint32_t> order_;
  size_t next_ = 0;
  bool unsorted_ = false;
  SweepOp head_{INT64_MIN, {}, {}, 0, nullptr};
};

/// Cuts what a process does on one communicator into runs.
class RunCutter {
 public:
  RunCutter(ProcessId process, CommId comm, const GridSteps& grids, ProcessSweeps& found)
      : process_(process), comm_(comm), grids_(grids), found_(found) {}

  void receive(const SweepOp& op) {
    if (!sends_.empty()) close_group();
    if (!receives_.empty() && receives_.front().phase != op.phase) end_phase();
    if (!received_.empty() && received_.front().phase != op.phase) end_run();
    note(from_, op.peer);
    receives_.push_back(op);
    // Only receives since long: but for the last ones they are the run's.
    if (receives_.size() < 2 * kMostKept) return;
    const size_t old = kMostKept - kMostKept % from_.size();
    add_group(SomeOps(receives_).first(old), {});
    receives_.erase(receives_.begin(), receives_.begin() + static_cast<ptrdiff_t>(old));
  }
  void send(const SweepOp& op) {
    if (!sends_.empty() && sends_.front().phase != op.phase) end_phase();
    if (!sent_.empty() && sent_.front().phase != op.phase) {
      received_.empty() ? end_run() : end_phase();
    }
    const bool fresh = note(to_, op.peer);
    if (fresh || sends_.size() < kMostKept || sends_.size() % to_.size() != 0) sends_.push_back(op);
  }
  /// It has to do with too many for a sweep.
  bool crowded() const {
    return std::max({from_.size(), to_.size(), up_.size(), down_.size()}) > kMostNeighbors;
  }
  void finish() {
    close_group();
    end_run();
  }

 private:
  void end_phase() {
    close_group();
    end_run();
  }

  /// Where a group receives from whom it sends to, it belongs to several runs. Of the old one there
  /// are the last receives, or the last that was passed on; of the new one the first receives, or
  /// it starts here. In between one may have passed.
  void close_group() {
    SomeOps receives(receives_), sends(sends_);
    const auto old_ones = [&](size_t received, size_t sent) {
      add_group(receives.first(received), sends.first(sent));
      receives = receives.subspan(received), sends = sends.subspan(sent);
    };
    if (std::any_of(from_.begin(), from_.end(), [&](ProcessId p) { return contains(to_, p); })) {
      const size_t passed_on = last_passed_on();
      const size_t ended = passed_on > 0 ? 0 : first_of_new_run();
      if (passed_on > 0) {
        old_ones(receives.size(), passed_on);
      } else if (ended < receives.size()) {
        old_ones(ended, 0);
      } else {
        const Passage passed = find_passage();
        old_ones(receives.size() - passed.receives, 0);
        old_ones(passed.receives, passed.sends);
      }
    }
    add_group(receives, sends);
    receives_.clear();
    sends_.clear();
    from_.clear();
    to_.clear();
  }

  /// How many sends are still the old run's: each to another, and none back.
  size_t last_passed_on() const {
    Processes seen = from_;
    size_t count = 0;
    while (count < sends_.size() && note(seen, sends_[count].peer)) ++count;
    return count;
  }

  struct Passage {
    size_t receives = 0, sends = 0;
  };
  /// Between a run that ended here and one that starts here, both with all neighbors and the same
  /// number of messages with each: what came from some and was passed on to others. Nothing, if
  /// that is not so.
  Passage find_passage() const {
    Processes up;
    for (size_t r = 1; r < receives_.size() && note(up, receives_[receives_.size() - r].peer);
         ++r) {
      if (!is_even(receives_, 0, receives_.size() - r)) continue;
      Processes seen = up;
      for (size_t s = 1; s < sends_.size() && note(seen, sends_[s - 1].peer); ++s) {
        if (is_even(sends_, s, sends_.size())) return {r, s};
      }
    }
    return {};
  }
  /// The same number with each of the group's neighbors.
  bool is_even(const Ops& ops, size_t begin, size_t end) const {
    const Processes& peers = from_.size() > to_.size() ? from_ : to_;
    if (begin == end || (end - begin) % peers.size() != 0) return false;
    std::vector<size_t> counts(peers.size());
    for (size_t i = begin; i < end; ++i) {
      const auto at = std::find(peers.begin(), peers.end(), ops[i].peer);
      if (at == peers.end()) return false;
      ++counts[static_cast<size_t>(at - peers.begin())];
    }
    return std::all_of(counts.begin(), counts.end(),
                       [&](size_t count) { return count == counts.front(); });
  }

  /// The place of the first receive that is no longer the old run's.
  size_t first_of_new_run() const {
    Processes seen = to_;
    size_t first = receives_.size();
    while (first > 0 && note(seen, receives_[first - 1].peer)) --first;
    return first;
  }

  void add_group(SomeOps receives, SomeOps sends) {
    if (receives.empty() && sends.empty()) return;
    const auto flows = [](SomeOps ops, const Processes& other) {
      return std::none_of(ops.begin(), ops.end(),
                          [&](const SweepOp& op) { return contains(other, op.peer); });
    };
    if (!flows(receives, down_) || !flows(sends, up_)) end_run();
    const bool first = groups_ == 0;
    if (first) begin_ = (receives.empty() ? sends : receives).front().moment;
    // Who sends before it receives passes nothing on.
    if (!first && up_.empty() && !receives.empty()) sound_ = false;
    take(receives, first, up_, received_);
    take(sends, first, down_, sent_);
    ++groups_;
  }

  static void take(SomeOps ops, bool first, Processes& peers, Ops& lead) {
    for (const SweepOp& op : ops) {
      if (note(peers, op.peer) || first) lead.push_back(op);
    }
  }

  void end_run() {
    if (groups_ > 0) {
      const uint8_t flow = flow_of_run();
      if (down_.empty()) keep_first_front();
      for (const Ops* ops : {&received_, &sent_}) {
        for (const SweepOp& op : *ops) op.op->flow = flow;
      }
      found_.runs.push_back({comm_, begin_, flow});
    }
    up_.clear(), down_.clear(), received_.clear(), sent_.clear();
    groups_ = 0;
    sound_ = true;
  }
  /// Who only receives does not say where a group ends: the front has come when all have sent.
  void keep_first_front() {
    Processes seen;
    size_t kept = 0;
    while (kept < received_.size() && seen.size() < up_.size()) {
      note(seen, received_[kept++].peer);
    }
    received_.resize(kept);
  }

  Phases phases_of_run() const {
    const auto phase_of = [](const Ops& ops) { return ops.empty() ? 0 : ops.front().phase; };
    return {phase_of(received_), phase_of(sent_)};
  }

  uint8_t flow_of_run() {
    std::sort(up_.begin(), up_.end());
    std::sort(down_.begin(), down_.end());
    const Phases phases = phases_of_run();
    std::vector<SweepFlow>& flows = found_.flows;
    size_t i = 0;
    while (i < flows.size() && (flows[i].comm != comm_ || flows[i].phases != phases ||
                                flows[i].up != up_ || flows[i].down != down_)) {
      ++i;
    }
    if (i == flows.size()) {
      flows.push_back({comm_, up_, down_, phases, grids_.direction(comm_, process_, up_, down_)});
    }
    SweepFlow& flow = flows[i];
    ++flow.runs;
    flow.sound = flow.sound && sound_;
    flow.repeats = flow.repeats || groups_ > 1;
    return static_cast<uint8_t>(i);
  }

  const ProcessId process_;
  const CommId comm_;
  const GridSteps& grids_;
  ProcessSweeps& found_;
  Ops receives_, sends_;  // of the group that has not ended
  Processes from_, to_;   // with whom those were
  Processes up_, down_;   // of the run, and so are the following
  Ops received_, sent_;   // its leads
  SweepMoment begin_ = 0;
  size_t groups_ = 0;
  bool sound_ = true;
};

bool intersect(const Processes& a, const Processes& b) {
  return std::any_of(a.begin(), a.end(), [&](ProcessId process) {
    return std::binary_search(b.begin(), b.end(), process);
  });
}

}  // namespace

bool SweepFlow::against(const SweepFlow& other) const {
  return comm == other.comm && (intersect(up, other.down) || intersect(down, other.up));
}

bool ProcessSweeps::may_turn() const {
  return std::any_of(flows.begin(), flows.end(), [&](const SweepFlow& flow) {
    return flow.relay() && flow.sound &&
           std::any_of(flows.begin(), flows.end(),
                       [&](const SweepFlow& other) { return flow.against(other); });
  });
}

size_t ProcessSweeps::run_at(CommId comm, SweepMoment moment) const {
  const auto next = std::upper_bound(
      runs.begin(), runs.end(), std::tuple(comm, moment),
      [](const auto& key, const SweepRun& run) { return key < std::tuple(run.comm, run.begin); });
  if (next == runs.begin() || std::prev(next)->comm != comm) return runs.size();
  return static_cast<size_t>(std::prev(next) - runs.begin());
}

namespace {

/// Nothing if the process does something else than sweeps; none if a list turned out to be
/// unsorted, unless it was `sorted`.
std::optional<ProcessSweeps> cut_runs(Run& run, ProcessId process, const GridSteps& grids,
                                      const SweepPhases& phases, bool sorted) {
  ProcessSweeps found;
  std::vector<OpList> lists;
  for (LocationId id : run.definitions->processes[process.index()].locations) {
    if (!run.at(id).sends.empty()) lists.emplace_back(run, id, phases, true, sorted);
    if (!run.at(id).recvs.empty()) lists.emplace_back(run, id, phases, false, sorted);
  }
  std::vector<RunCutter> cutters;
  FlatMap cutter_of;
  CommId last_comm;
  size_t last = 0;
  for (;;) {
    OpList* next = nullptr;
    for (OpList& list : lists) {
      if (!list.done() && (next == nullptr || list.head().moment < next->head().moment)) {
        next = &list;
      }
    }
    if (next == nullptr) break;
    const SweepOp& op = next->head();
    if (op.comm != last_comm) {
      last_comm = op.comm;
      const CommId whole = grids.whole(op.comm);
      last = cutter_of.at(whole.index(), static_cast<uint32_t>(cutters.size()));
      if (last == cutters.size()) cutters.emplace_back(process, whole, grids, found);
    }
    next->is_send() ? cutters[last].send(op) : cutters[last].receive(op);
    next->advance();
    if (next->unsorted() && !sorted) return {};
    if (found.flows.size() > kMostFlows || cutters[last].crowded()) return ProcessSweeps();
  }
  for (RunCutter& cutter : cutters) cutter.finish();
  if (found.flows.size() > kMostFlows) return ProcessSweeps();
  std::stable_sort(found.runs.begin(), found.runs.end(), [](const SweepRun& a, const SweepRun& b) {
    return std::tie(a.comm, a.begin) < std::tie(b.comm, b.begin);
  });
  return found;
}

}  // namespace

ProcessSweeps find_sweep_runs(Run& run, ProcessId process, const GridSteps& grids) {
  const SweepPhases phases(run, process);
  if (std::optional<ProcessSweeps> found = cut_runs(run, process, grids, phases, false)) {
    return *std::move(found);
  }
  return *cut_runs(run, process, grids, phases, true);
}

}  // namespace culprit::replay
