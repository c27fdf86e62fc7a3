// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Sends and receives are merged by time without a copy; each communicator has a state of its own,
// which is as large as a process has neighbors. What never comes to an end (a source only sends) is
// kept as far as it can matter.
#include "replay/match/sweep_runs.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/flat_map.h"
#include "replay/match/peers.h"

namespace culprit::replay {

namespace {

/// More kinds of runs than a process has in any sweep: it does something else.
constexpr size_t kMostFlows = 64;
/// More neighbors than a process has in any sweep, on either side: likewise.
constexpr size_t kMostNeighbors = 64;
/// Of a group without end so many are kept, besides the first of each neighbor.
constexpr size_t kMostKept = 256;

/// One send or receive, in the order of its process.
struct SweepOp {
  SweepMoment moment;
  ProcessId peer;
  CommId comm;
  MessageOp* op;
};

using Ops = std::vector<SweepOp>;
using Processes = std::vector<ProcessId>;

bool contains(const Processes& list, ProcessId process) {
  return std::find(list.begin(), list.end(), process) != list.end();
}

/// Whether it was new.
bool note(Processes& list, ProcessId process) {
  if (contains(list, process)) return false;
  list.push_back(process);
  return true;
}

/// The sends, or the receives, of one location in the order of their moments.
class OpList {
 public:
  OpList(Run& run, LocationId location, ProcessId process, bool is_send)
      : run_(run), location_(location), is_send_(is_send), peers_(run, process) {
    sort_if_needed();
    advance();
  }

  bool done() const { return next_ > size(); }
  const SweepOp& head() const { return head_; }
  bool is_send() const { return is_send_; }
  /// To the next one whose peer is known and another process.
  void advance() {
    for (; next_ < size(); ++next_) {
      MessageOp& op = ops()[order_.empty() ? next_ : order_[next_]];
      op.flow = MessageOp::kNoFlow;
      if (!op.completed.valid() && !is_send_) continue;
      const ProcessId peer = peers_.of(op);
      if (!peer.valid() || peer == run_.location(location_).process) continue;
      head_ = {moment(op), peer, op.comm, &op};
      ++next_;
      return;
    }
    next_ = size() + 1;
  }

 private:
  Column<MessageOp>& ops() {
    return is_send_ ? run_.at(location_).sends : run_.at(location_).recvs;
  }
  size_t size() const {
    return is_send_ ? run_.at(location_).sends.size() : run_.at(location_).recvs.size();
  }
  SweepMoment moment(const MessageOp& op) const {
    if (is_send_) return sent_at(run_.call(run_.ref(location_, op.posted)));
    if (!op.completed.valid()) return INT64_MIN;
    return received_at(run_.call(run_.ref(location_, op.completed)));
  }

  /// Sends are posted one after the other, but receives may come in any order.
  void sort_if_needed() {
    if (is_send_) return;
    const Column<MessageOp>& all = ops();
    size_t sorted = 0;
    for (SweepMoment last = INT64_MIN; sorted < all.size(); ++sorted) {
      const SweepMoment next = moment(all[sorted]);
      if (next < last) break;
      last = next;
    }
    if (sorted == all.size()) return;
    order_.resize(all.size());
    std::iota(order_.begin(), order_.end(), 0u);
    std::stable_sort(order_.begin(), order_.end(),
                     [&](uint32_t a, uint32_t b) { return moment(all[a]) < moment(all[b]); });
  }

  Run& run_;
  const LocationId location_;
  const bool is_send_;
  Peers peers_;
  std::vector<uint32_t> order_;
  size_t next_ = 0;
  SweepOp head_{};
};

/// Cuts what a process does on one communicator into runs.
class RunCutter {
 public:
  RunCutter(ProcessId process, CommId comm, const GridSteps& grids, ProcessSweeps& found)
      : process_(process), comm_(comm), grids_(grids), found_(found) {}

  void receive(const SweepOp& op) {
    if (!sends_.empty()) close_group();
    note(from_, op.peer);
    receives_.push_back(op);
    // Only receives since long: but for the last ones they are the run's.
    if (receives_.size() < 2 * kMostKept) return;
    add_group(take_front(receives_, kMostKept - kMostKept % from_.size()), {});
  }
  void send(const SweepOp& op) {
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
  /// Where a group receives from whom it sends to, it belongs to several runs. Of the old one there
  /// are the last receives, or the last that was passed on; of the new one the first receives, or
  /// it starts here. In between one may have passed.
  void close_group() {
    const auto turns = [&](const SweepOp& op) { return contains(to_, op.peer); };
    if (std::any_of(receives_.begin(), receives_.end(), turns)) {
      size_t sends = last_passed_on();
      size_t receives = sends > 0 ? receives_.size() : first_of_new_run();
      if (receives == receives_.size() && sends == 0) {
        const Passage passed = find_passage();
        receives -= passed.receives;
        add_group(take_front(receives_, receives), {});
        receives = passed.receives, sends = passed.sends;
      }
      const Ops passed_on = take_front(sends_, sends);
      add_group(take_front(receives_, receives), passed_on);
    }
    add_group(receives_, sends_);
    receives_.clear();
    sends_.clear();
    from_.clear();
    to_.clear();
  }

  static Ops take_front(Ops& ops, size_t count) {
    const auto end = ops.begin() + static_cast<ptrdiff_t>(count);
    Ops front(ops.begin(), end);
    ops.erase(ops.begin(), end);
    return front;
  }

  /// How many sends are still the old run's: each to another, and none back.
  size_t last_passed_on() const {
    Processes seen;
    for (const SweepOp& op : receives_) note(seen, op.peer);
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
    std::vector<size_t> counts(peers.size());
    for (size_t i = begin; i < end; ++i) {
      const auto at = std::find(peers.begin(), peers.end(), ops[i].peer);
      if (at == peers.end()) return false;
      ++counts[static_cast<size_t>(at - peers.begin())];
    }
    return std::all_of(counts.begin(), counts.end(),
                       [&](size_t count) { return count == counts.front(); }) &&
           begin < end;
  }

  /// The place of the first receive that is no longer the old run's.
  size_t first_of_new_run() const {
    Processes seen = to_;
    size_t first = receives_.size();
    while (first > 0 && note(seen, receives_[first - 1].peer)) --first;
    return first;
  }

  void add_group(const Ops& receives, const Ops& sends) {
    if (receives.empty() && sends.empty()) return;
    const auto flows = [](const Ops& ops, const Processes& other) {
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

  static void take(const Ops& ops, bool first, Processes& peers, Ops& lead) {
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

  uint8_t flow_of_run() {
    std::sort(up_.begin(), up_.end());
    std::sort(down_.begin(), down_.end());
    std::vector<SweepFlow>& flows = found_.flows;
    size_t i = 0;
    while (i < flows.size() &&
           (flows[i].comm != comm_ || flows[i].up != up_ || flows[i].down != down_)) {
      ++i;
    }
    if (i == flows.size()) {
      flows.push_back({comm_, up_, down_, grids_.direction(comm_, process_, up_, down_)});
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

ProcessSweeps find_sweep_runs(Run& run, ProcessId process, const GridSteps& grids) {
  ProcessSweeps found;
  std::vector<OpList> lists;
  for (LocationId id : run.definitions->processes[process.index()].locations) {
    if (!run.at(id).sends.empty()) lists.emplace_back(run, id, process, true);
    if (!run.at(id).recvs.empty()) lists.emplace_back(run, id, process, false);
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
      last = cutter_of.at(op.comm.index(), static_cast<uint32_t>(cutters.size()));
      if (last == cutters.size()) cutters.emplace_back(process, op.comm, grids, found);
    }
    next->is_send() ? cutters[last].send(op) : cutters[last].receive(op);
    next->advance();
    if (found.flows.size() > kMostFlows || cutters[last].crowded()) return {};
  }
  for (RunCutter& cutter : cutters) cutter.finish();
  if (found.flows.size() > kMostFlows) return {};
  std::stable_sort(found.runs.begin(), found.runs.end(), [](const SweepRun& a, const SweepRun& b) {
    return std::tie(a.comm, a.begin) < std::tie(b.comm, b.begin);
  });
  return found;
}

}  // namespace culprit::replay
