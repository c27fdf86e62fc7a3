// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Messages are judged where they were received. The sends of other analysis ranks' processes to
// this rank's processes are transferred in bulk, in few bytes, and unpacked pair by pair.
#pragma once

#include <span>
#include <vector>

#include "replay/match/message_ends.h"
#include "replay/model/compact.h"

namespace culprit::replay {

/// The data of a send that its receiver needs to find and judge the message.
struct RemoteSend {
  MessageChannel channel;
  uint32_t bytes = 0;  ///< as in MessageOp
  Post post;
  SentMessage message;
};

template <class Code>
void code_send(Code& code, RemoteSend& send, const RemoteSend& before) {
  code(send.channel.comm, before.channel.comm);
  code(send.channel.tag, before.channel.tag);
  code(send.channel.partitioned, before.channel.partitioned);
  code(send.bytes, before.bytes);
  code(send.post.location, before.post.location);
  code_call(code, send.post.call, before.post.call);
  SentMessage& message = send.message;
  code_call(code, message.met, send.post.call);
  code(message.met_at, send.post.location);
  code_call(code, message.completed, message.met);
  code(message.completed_at, message.met_at);
  code(message.may_wait, before.message.may_wait);
  code(message.flow, before.message.flow);
}

class RemoteSends {
 public:
  /// Sends away what this rank's processes sent to others'; `sends` by ProcessId. Collective.
  RemoteSends(const Run& run, const std::vector<MessageEnds>& sends, unsigned threads);

  /// The sends of one process to another, in the order of posting.
  struct Pair {
    ProcessId from, to;
    bool ordered = true;  ///< as in MessageEnds
    std::span<const std::byte> bytes;
  };
  /// Null: nothing.
  const Pair* find(ProcessId from, ProcessId to) const;
  static void unpack(const Pair& pair, std::vector<RemoteSend>& sends);

 private:
  std::vector<Parcel> parcels_;
  std::vector<Pair> pairs_;  // by `from`, then by `to`
};

}  // namespace culprit::replay
