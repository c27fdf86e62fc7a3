// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// First each process sorts its sends by receiver and its receives by sender, in the order of
// posting. Sends to processes of other ranks go to these ranks. Then each receiver joins its lists
// with those of its senders. All steps run in parallel.
#include "replay/match/messages.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <span>

#include "base/parallel.h"
#include "base/ranks/exchange.h"
#include "replay/match/message_ends.h"
#include "replay/match/remote_sends.h"

namespace culprit::replay {

namespace {

struct Tally {
  uint64_t sends = 0, recvs = 0, matched = 0, unknown = 0, unordered = 0;

  Tally operator+(const Tally& o) const {
    return {sends + o.sends, recvs + o.recvs, matched + o.matched, unknown + o.unknown,
            unordered + o.unordered};
  }
};

/// The sends of a process of this rank, as a PairJoiner sees them.
struct OwnSends {
  using Send = OpRef;
  const Run& run;

  MessageChannel channel(OpRef ref) const { return channel_of(run, ref, true); }
  uint32_t bytes(OpRef ref) const { return run.at(ref.location).sends[ref.op].bytes; }
  Post post(OpRef ref) const { return post_of(run, ref, true); }
  SentMessage message(OpRef ref) const { return sent_message(run, ref); }
};

/// The sends of a process of another rank, likewise.
struct OthersSends {
  using Send = RemoteSend;

  const MessageChannel& channel(const Send& send) const { return send.channel; }
  uint32_t bytes(const Send& send) const { return send.bytes; }
  const Post& post(const Send& send) const { return send.post; }
  const SentMessage& message(const Send& send) const { return send.message; }
};

/// Joins what one process sent to another with what that one received.
template <class Sends>
class PairJoiner {
 public:
  using Send = typename Sends::Send;

  PairJoiner(const Run& run, const Sends& from, MessageVisitor& visitor, Tally& tally)
      : run_(run), from_(from), visitor_(visitor), tally_(tally) {}

  void join(std::span<const Send> sends, std::span<const OpRef> recvs, bool ordered) {
    const auto send_channel = [this](const Send& send) { return from_.channel(send); };
    const auto recv_channel = [this](OpRef ref) { return channel_of(run_, ref, false); };
    const MessageChannel first = send_channel(sends[0]);
    if (all_on(first, sends, send_channel) && all_on(first, recvs, recv_channel)) {
      return join_channel(sends, recvs, ordered);
    }
    by_channel(sends, send_channel, sends_);
    by_channel(recvs, recv_channel, recvs_);
    for (auto& [channel, list] : sends_) {
      const auto others = recvs_.find(channel);
      if (others != recvs_.end()) join_channel(list, others->second, ordered);
    }
  }

 private:
  /// Joins sends and receives whose order determines the match.
  template <class End>
  using Lists = std::map<MessageChannel, std::vector<End>>;

  /// The receive of an unordered send is searched among this many candidates.
  static constexpr size_t kCandidates = 64;

  const MessageOp& recv(OpRef ref) const { return run_.at(ref.location).recvs[ref.op]; }

  template <class End, class ChannelOf>
  static bool all_on(const MessageChannel& channel, std::span<const End> ends,
                     const ChannelOf& channel_of) {
    return std::all_of(ends.begin(), ends.end(),
                       [&](const End& end) { return channel_of(end) == channel; });
  }

  template <class End, class ChannelOf>
  static void by_channel(std::span<const End> ends, const ChannelOf& channel_of,
                         Lists<End>& lists) {
    lists.clear();
    auto last = lists.end();
    for (const End& end : ends) {
      const MessageChannel key = channel_of(end);
      if (last == lists.end() || last->first != key) last = lists.try_emplace(key).first;
      last->second.push_back(end);
    }
  }

  void join_channel(std::span<const Send> sends, std::span<const OpRef> recvs, bool ordered) {
    const size_t matched = std::min(sends.size(), recvs.size());
    tally_.matched += matched;
    if (ordered) {
      for (size_t i = 0; i < matched; ++i) link(sends[i], recvs[i]);
      return;
    }
    const std::vector<bool> unordered_sends =
        find_unordered(sends.size(), [&](size_t i) { return from_.post(sends[i]); });
    const std::vector<bool> unordered_recvs =
        find_unordered(recvs.size(), [&](size_t i) { return post_of(run_, recvs[i], false); });
    for (size_t i = 0, end; i < matched; i = end) {
      end = i + 1;
      while (end < matched && (unordered_sends[end] || unordered_recvs[end])) ++end;
      join_unordered(sends, recvs, i, end);
    }
  }

  /// Each send from `begin` to `end` meets the first receive that it can have met.
  void join_unordered(std::span<const Send> sends, std::span<const OpRef> recvs, size_t begin,
                      size_t end) {
    if (end == begin + 1) return link(sends[begin], recvs[begin]);
    std::deque<size_t> left;  // elements are removed near the begin
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

  /// Lengths must agree: a receive's length is that of its status, not that of its buffer.
  bool can_meet(const Send& out, OpRef to) const {
    const MessageOp& in = recv(to);
    return from_.bytes(out) == in.bytes &&
           run_.call(run_.ref(to.location, in.completed)).leave >= from_.post(out).call.enter;
  }

  void link(const Send& from, OpRef to) {
    visitor_.visit({to.location, recv(to), from_.message(from), to.op});
  }

  const Run& run_;
  const Sends from_;
  MessageVisitor& visitor_;
  Tally& tally_;
  Lists<Send> sends_;
  Lists<OpRef> recvs_;
};

void report(const Tally& sum, Losses& losses) {
  losses.add(LossKind::unmatched_sends, sum.sends - sum.matched);
  losses.add(LossKind::unmatched_receives, sum.recvs - sum.matched);
  losses.add(LossKind::messages_with_unknown_peer, sum.unknown);
  losses.add(LossKind::unordered_messages, sum.unordered);
}

/// Matches the messages of all receivers with the sends of all senders.
class MessageMatcher {
 public:
  MessageMatcher(const Run& run, unsigned threads)
      : run_(run),
        threads_(threads),
        sends_(run.definitions->processes.size()),
        recvs_(sends_.size()),
        tallies_(sends_.size()) {
    for_own([&](size_t p) {
      sends_[p] = collect_ends(run_, ProcessId(p), true);
      recvs_[p] = collect_ends(run_, ProcessId(p), false);
      tallies_[p].sends = sends_[p].ops.size();
      tallies_[p].recvs = recvs_[p].ops.size();
      tallies_[p].unknown = sends_[p].unknown + recvs_[p].unknown;
    });
  }

  /// Collective.
  void match(const std::function<std::unique_ptr<MessageVisitor>(ProcessId)>& visitor_of) {
    const RemoteSends others(run_, sends_, threads_);
    for_own([&](size_t p) {
      const std::unique_ptr<MessageVisitor> visitor = visitor_of(ProcessId(p));
      receive(ProcessId(p), others, *visitor);
      visitor->finish();
    });
  }

  Tally sum() const {
    Tally sum;
    for (const Tally& tally : tallies_) sum = sum + tally;
    return sum;
  }

 private:
  template <class Work>
  void for_own(const Work& work) {
    parallel_for(sends_.size(), threads_, [&](size_t p) {
      if (run_.owns(ProcessId(p))) work(p);
    });
  }

  void receive(ProcessId process, const RemoteSends& others, MessageVisitor& visitor) {
    const MessageEnds& recvs = recvs_[process.index()];
    Tally& tally = tallies_[process.index()];
    PairJoiner<OwnSends> own(run_, {run_}, visitor, tally);
    PairJoiner<OthersSends> from_afar(run_, {}, visitor, tally);
    std::vector<RemoteSend> unpacked;
    for (size_t i = 0; i < recvs.peers.size(); ++i) {
      const ProcessId sender = recvs.peers[i];
      if (run_.owns(sender)) {
        const MessageEnds& sends = sends_[sender.index()];
        const std::span<const OpRef> from = sends.with(process);
        if (!from.empty()) own.join(from, recvs.of(i), recvs.ordered && sends.ordered);
      } else if (const RemoteSends::Pair* pair = others.find(sender, process)) {
        RemoteSends::unpack(*pair, unpacked);
        from_afar.join(unpacked, recvs.of(i), recvs.ordered && pair->ordered);
      }
    }
  }

  const Run& run_;
  unsigned threads_;
  std::vector<MessageEnds> sends_, recvs_;  // by ProcessId
  std::vector<Tally> tallies_;              // likewise
};

}  // namespace

void match_messages(const Run& run, unsigned threads,
                    const std::function<std::unique_ptr<MessageVisitor>(ProcessId)>& visitor_of,
                    Losses& losses) {
  MessageMatcher matcher(run, threads);
  matcher.match(visitor_of);
  // A message may have been sent on one rank and received on another: only the sum over all ranks
  // shows losses.
  const Tally all = sum(*run.ranks, matcher.sum());
  if (run.ranks->rank() == 0) report(all, losses);
}

}  // namespace culprit::replay
