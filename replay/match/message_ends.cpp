// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Peers are numbered, then operations laid out by peer in one counting pass and sorted by the time
// at which they were posted.
#include "replay/match/message_ends.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "replay/match/peers.h"

namespace culprit::replay {

namespace {

/// The operations of one thread are in order already, unless a matched probe came first.
void sort_by_post(const Run& run, std::span<OpRef> ops, bool is_send) {
  const auto key = [&](OpRef ref) {
    return std::tuple(post_of(run, ref, is_send).call.enter, ref.location, ref.op);
  };
  const auto earlier = [&](OpRef a, OpRef b) { return key(a) < key(b); };
  if (!std::is_sorted(ops.begin(), ops.end(), earlier)) std::sort(ops.begin(), ops.end(), earlier);
}

/// Puts ends into the order of their peers, keeping the order among those of one peer.
class Sorter {
 public:
  Sorter(const Run& run, ProcessId process, bool is_send)
      : run_(run),
        locations_(run.definitions->processes[process.index()].locations),
        peers_(run, process),
        is_send_(is_send) {}

  MessageEnds sort() {
    for_each_end([&](LocationId, uint32_t, size_t peer) { ++buckets_[peer].next; });
    ends_.unknown = unknown_;
    lay_out();
    for_each_end([&](LocationId id, uint32_t op, size_t peer) {
      ends_.ops[buckets_[peer].next++] = {id, op};
    });
    size_t tellers = 0;
    for (LocationId id : locations_) tellers += !operations(id).empty();
    ends_.ordered = tellers <= 1;
    if (!ends_.ordered || matched_probes()) {
      for (size_t i = 0; i < ends_.peers.size(); ++i) {
        sort_by_post(run_,
                     {ends_.ops.begin() + ends_.first[i], ends_.ops.begin() + ends_.first[i + 1]},
                     is_send_);
      }
    }
    return std::move(ends_);
  }

 private:
  const Column<MessageOp>& operations(LocationId id) const {
    return is_send_ ? run_.at(id).sends : run_.at(id).recvs;
  }

  template <class Visit>
  void for_each_end(const Visit& visit) {
    unknown_ = 0;
    for (LocationId id : locations_) {
      const Column<MessageOp>& ops = operations(id);
      for (uint32_t i = 0; i < ops.size(); ++i) {
        if (!is_send_ && !ops[i].completed.valid()) continue;  // cancelled, or never completed
        const ProcessId peer = peers_.of(ops[i]);
        if (peer.valid()) {
          visit(id, i, bucket(peer));
        } else {
          ++unknown_;
        }
      }
    }
  }

  size_t bucket(ProcessId peer) {
    if (last_ < buckets_.size() && buckets_[last_].peer == peer) return last_;
    last_ = bucket_of_.at(peer.index(), static_cast<uint32_t>(buckets_.size()));
    if (last_ == buckets_.size()) buckets_.push_back({peer, 0});
    return last_;
  }

  /// Turns counts into the positions at which each peer's operations begin.
  void lay_out() {
    std::vector<uint32_t> order(buckets_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return buckets_[a].peer < buckets_[b].peer; });
    size_t sum = 0;
    for (uint32_t i : order) {
      ends_.peers.push_back(buckets_[i].peer);
      ends_.first.push_back(sum);
      sum += std::exchange(buckets_[i].next, sum);
    }
    ends_.first.push_back(sum);
    ends_.ops.resize(sum);
  }

  bool matched_probes() const {
    return !is_send_ && std::any_of(locations_.begin(), locations_.end(),
                                    [&](LocationId id) { return !run_.at(id).rare_recvs.empty(); });
  }

  const Run& run_;
  const std::vector<LocationId>& locations_;
  Peers peers_;
  bool is_send_;
  struct Bucket {
    ProcessId peer;
    size_t next;  // first the count, then the position of the next one
  };
  std::vector<Bucket> buckets_;
  FlatMap bucket_of_;
  size_t last_ = 0;
  uint64_t unknown_ = 0;
  MessageEnds ends_;
};

}  // namespace

std::span<const OpRef> MessageEnds::with(ProcessId peer) const {
  const auto found = std::lower_bound(peers.begin(), peers.end(), peer);
  if (found == peers.end() || *found != peer) return {};
  return of(static_cast<size_t>(found - peers.begin()));
}

MessageEnds collect_ends(const Run& run, ProcessId process, bool is_send) {
  return Sorter(run, process, is_send).sort();
}

Post post_of(const Run& run, OpRef ref, bool is_send) {
  const Timeline& line = run.at(ref.location);
  const MessageOp& op = (is_send ? line.sends : line.recvs)[ref.op];
  if (!is_send && op.rare) {
    const CallRef probe = line.rare_recvs.at(ref.op).met;
    if (probe.valid()) return {ref.location, run.call(probe)};
  }
  return {ref.location, run.call(run.ref(ref.location, op.posted))};
}

}  // namespace culprit::replay
