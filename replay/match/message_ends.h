// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The sends, or the receives, of one process: by the process at the other end, each in the order in
// which they were posted.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/column.h"
#include "replay/match/sent_message.h"
#include "replay/model/run.h"

namespace culprit::replay {

/// A send or receive: index into its location's.
struct OpRef {
  LocationId location;
  uint32_t op;
};

struct MessageEnds {
  std::vector<ProcessId> peers;  ///< ascending
  std::vector<size_t> first;     ///< by position in `peers`, and one more: into `ops`
  Column<OpRef> ops;
  uint64_t unknown = 0;  ///< ends whose peer the trace does not say; they are left out
  bool ordered = true;   ///< one thread posted them all: nothing can have overtaken

  std::span<const OpRef> of(size_t position) const {
    return {ops.begin() + first[position], ops.begin() + first[position + 1]};
  }
  std::span<const OpRef> with(ProcessId peer) const;
};

MessageEnds collect_ends(const Run& run, ProcessId process, bool is_send);

/// Messages between two processes on one channel are received in the order in which they are sent.
struct MessageChannel {
  CommId comm;
  int32_t tag = 0;
  uint32_t partitioned = 0;
  auto operator<=>(const MessageChannel&) const = default;
};

inline MessageChannel channel_of(const Run& run, OpRef ref, bool is_send) {
  const Timeline& line = run.at(ref.location);
  const MessageOp& op = (is_send ? line.sends : line.recvs)[ref.op];
  MessageChannel channel{op.comm, op.tag, 0};
  if (op.rare)
    channel.partitioned = (is_send ? line.rare_sends : line.rare_recvs).at(ref.op).partitioned;
  return channel;
}

/// The call that decides which message one is among those of its channel, and whose record it is.
struct Post {
  LocationId location;
  Call call;
};

Post post_of(const Run& run, OpRef ref, bool is_send);

/// How long after its enter a call may have posted at the latest: it may lose its core first.
inline constexpr Duration kPostedWithin = Duration::from_nanos(50'000);

/// Which of `count` ends of one channel, in order, posts of other threads may have overtaken.
/// post_of(i) is the Post of one.
template <class PostOf>
std::vector<bool> find_unordered(size_t count, const PostOf& post_of) {
  struct Latest {
    LocationId location;
    Time time = Time::min();
  };
  Latest first, second;  // the two latest, of different locations
  std::vector<bool> unordered(count);
  for (size_t i = 0; i < count; ++i) {
    const Post post = post_of(i);
    const Time latest = std::min(post.call.leave, post.call.enter + kPostedWithin);
    const Latest& other = first.location == post.location ? second : first;
    unordered[i] = other.location.valid() && other.time > post.call.enter;
    if (first.location == post.location) {
      first.time = std::max(first.time, latest);
    } else if (latest >= first.time) {
      second = first;
      first = {post.location, latest};
    } else if (second.location == post.location || latest >= second.time) {
      second = {post.location, std::max(second.time, latest)};
    }
  }
  return unordered;
}

inline SentMessage sent_message(const Run& run, OpRef ref) {
  const Timeline& line = run.at(ref.location);
  const MessageOp& op = line.sends[ref.op];
  SentMessage sent;
  CallRef met = run.ref(ref.location, op.posted);
  if (op.rare) {
    const CallRef ready = line.rare_sends.at(ref.op).met;
    if (ready.valid()) met = ready;
  }
  sent.met = run.call(met);
  sent.met_at = met.location;
  if (op.completed.valid()) {
    const CallRef completed = run.ref(ref.location, op.completed);
    sent.completed = run.call(completed);
    sent.completed_at = completed.location;
  }
  sent.may_wait = op.may_wait;
  sent.flow = op.flow;
  return sent;
}

}  // namespace culprit::replay
