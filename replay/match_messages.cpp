// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// First each process sorts its sends by receiver and its receives by sender, in the order of
// posting. Then each receiver joins its lists with those of its senders. Both in parallel.
#include "replay/match_messages.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <tuple>

#include "base/parallel.h"
#include "replay/message_ends.h"

namespace culprit::replay {

namespace {

struct Tally {
  uint64_t sends = 0, recvs = 0, matched = 0, unknown = 0, unordered = 0;

  Tally& operator+=(const Tally& o) {
    sends += o.sends, recvs += o.recvs, matched += o.matched;
    unknown += o.unknown, unordered += o.unordered;
    return *this;
  }
};

/// Joins what one process sent to another with what that one received.
class Joiner {
 public:
  Joiner(const Run& run, MessageVisitor& visitor, Tally& tally)
      : run_(run), visitor_(visitor), tally_(tally) {}

  void join(std::span<const OpRef> sends, std::span<const OpRef> recvs, bool ordered) {
    if (one_channel(sends, recvs)) return join_channel(sends, recvs, ordered);
    by_channel(sends, true, sends_);
    by_channel(recvs, false, recvs_);
    for (auto& [channel, list] : sends_) {
      const auto others = recvs_.find(channel);
      if (others != recvs_.end()) join_channel(list, others->second, ordered);
    }
  }

 private:
  /// Their order is their match.
  struct Channel {
    CommId comm;
    int32_t tag;
    uint32_t partitioned;
    auto operator<=>(const Channel&) const = default;
  };
  using Lists = std::map<Channel, std::vector<OpRef>>;

  /// Among so many the receive of an unordered send is looked for.
  static constexpr size_t kCandidates = 64;

  const MessageOp& send(OpRef ref) const { return run_.at(ref.location).sends[ref.op]; }
  const MessageOp& recv(OpRef ref) const { return run_.at(ref.location).recvs[ref.op]; }

  Channel channel(OpRef ref, bool is_send) const {
    const MessageOp& op = is_send ? send(ref) : recv(ref);
    Channel channel{op.comm, op.tag, 0};
    if (op.rare) {
      const Timeline& line = run_.at(ref.location);
      channel.partitioned = (is_send ? line.rare_sends : line.rare_recvs).at(ref.op).partitioned;
    }
    return channel;
  }

  bool one_channel(std::span<const OpRef> sends, std::span<const OpRef> recvs) const {
    const Channel first = channel(sends[0], true);
    return std::all_of(sends.begin(), sends.end(),
                       [&](OpRef ref) { return channel(ref, true) == first; }) &&
           std::all_of(recvs.begin(), recvs.end(),
                       [&](OpRef ref) { return channel(ref, false) == first; });
  }

  void by_channel(std::span<const OpRef> ops, bool is_send, Lists& lists) const {
    lists.clear();
    auto last = lists.end();
    for (OpRef ref : ops) {
      const Channel key = channel(ref, is_send);
      if (last == lists.end() || last->first != key) last = lists.try_emplace(key).first;
      last->second.push_back(ref);
    }
  }

  void join_channel(std::span<const OpRef> sends, std::span<const OpRef> recvs, bool ordered) {
    const size_t matched = std::min(sends.size(), recvs.size());
    tally_.matched += matched;
    if (ordered) {
      for (size_t i = 0; i < matched; ++i) link(sends[i], recvs[i]);
      return;
    }
    const std::vector<bool> unordered_sends = find_unordered(run_, sends, true);
    const std::vector<bool> unordered_recvs = find_unordered(run_, recvs, false);
    for (size_t i = 0, end; i < matched; i = end) {
      end = i + 1;
      while (end < matched && (unordered_sends[end] || unordered_recvs[end])) ++end;
      join_unordered(sends, recvs, i, end);
    }
  }

  /// Each send from `begin` to `end` meets the first receive that it can have met.
  void join_unordered(std::span<const OpRef> sends, std::span<const OpRef> recvs, size_t begin,
                      size_t end) {
    if (end == begin + 1) return link(sends[begin], recvs[begin]);
    std::deque<size_t> left;  // what is taken out lies near its begin
    for (size_t i = begin; i < end; ++i) left.push_back(i);
    for (size_t i = begin; i < end; ++i) {
      size_t chosen = 0, candidates = 0;
      const size_t seen = std::min(left.size(), kCandidates);
      for (size_t k = 0; k < seen; ++k) {
        if (!can_meet(sends[i], recvs[left[k]])) continue;
        if (candidates++ == 0) chosen = k;
      }
      tally_.unordered += candidates != 1 && left.size() > 1;
      link(sends[i], recvs[left[chosen]]);
      left.erase(left.begin() + static_cast<ptrdiff_t>(chosen));
    }
  }

  /// A receive may be longer than its message only as a buffer: its status told what came.
  bool can_meet(OpRef from, OpRef to) const {
    const MessageOp& out = send(from);
    const MessageOp& in = recv(to);
    return out.bytes == in.bytes && run_.call(run_.ref(to.location, in.completed)).leave >=
                                        run_.call(run_.ref(from.location, out.posted)).enter;
  }

  void link(OpRef from, OpRef to) {
    const SentMessage sent = sent_message(from);
    visitor_.visit({to.location, recv(to), sent, to.op});
  }

  SentMessage sent_message(OpRef from) const {
    const MessageOp& op = send(from);
    SentMessage sent;
    CallRef met = run_.ref(from.location, op.posted);
    if (op.rare) {
      const CallRef ready = run_.at(from.location).rare_sends.at(from.op).met;
      if (ready.valid()) met = ready;
    }
    sent.met = run_.call(met);
    sent.met_at = met.location;
    if (op.completed.valid()) {
      const CallRef completed = run_.ref(from.location, op.completed);
      sent.completed = run_.call(completed);
      sent.completed_at = completed.location;
    }
    sent.may_wait = op.may_wait;
    return sent;
  }

  const Run& run_;
  MessageVisitor& visitor_;
  Tally& tally_;
  Lists sends_, recvs_;
};

void report(const Tally& sum, Losses& losses) {
  losses.add("unmatched_sends", Severity::warning,
             "messages whose receive is not in the trace: cancelled, never received, or their "
             "records were lost",
             sum.sends - sum.matched);
  losses.add("unmatched_receives", Severity::data_loss,
             "received messages whose send is not in the trace: waits in these receives are not "
             "explained",
             sum.recvs - sum.matched);
  losses.add("messages_with_unknown_peer", Severity::data_loss,
             "these messages name a rank that their communicator does not have", sum.unknown);
  losses.add("unordered_messages", Severity::warning,
             "threads of one process sent or received with the same communicator, partner and "
             "tag at the same time, so which message met which receive is not known; waits in "
             "them may be taken for each other's (different tags would tell them apart)",
             sum.unordered);
}

}  // namespace

void match_messages(const Run& run, unsigned threads,
                    const std::function<std::unique_ptr<MessageVisitor>(ProcessId)>& visitor_of,
                    Losses& losses) {
  const size_t processes = run.definitions->processes.size();
  std::vector<MessageEnds> sends(processes), recvs(processes);
  std::vector<Tally> tallies(processes);
  parallel_for(processes, threads, [&](size_t p) {
    sends[p] = collect_ends(run, ProcessId(p), true);
    recvs[p] = collect_ends(run, ProcessId(p), false);
    tallies[p].sends = sends[p].ops.size();
    tallies[p].recvs = recvs[p].ops.size();
    tallies[p].unknown = sends[p].unknown + recvs[p].unknown;
  });
  parallel_for(processes, threads, [&](size_t p) {
    const std::unique_ptr<MessageVisitor> visitor = visitor_of(ProcessId(p));
    Joiner joiner(run, *visitor, tallies[p]);
    for (size_t i = 0; i < recvs[p].peers.size(); ++i) {
      const MessageEnds& other = sends[recvs[p].peers[i].index()];
      const std::span<const OpRef> from = other.with(ProcessId(p));
      if (from.empty()) continue;
      joiner.join(from, recvs[p].of(i), recvs[p].ordered && other.ordered);
    }
    visitor->finish();
  });
  Tally sum;
  for (const Tally& tally : tallies) sum += tally;
  report(sum, losses);
}

}  // namespace culprit::replay
