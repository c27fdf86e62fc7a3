// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The rows of one sender are closed when the messages of the next sender begin: only then is it
// clear whether it ever sent data.
#include "replay/detect/message_use.h"

#include <utility>

namespace culprit::replay {

MessageKind MessageUse::add(const MatchedMessage& message, LocationId receiver,
                            const Call& completed) {
  const SentMessage& sent = message.sent;
  const Last now{sent.met_at, receiver, sent.met, completed, message.recv.comm, message.recv.tag};
  const MessageKind kind = kind_of(message, now);
  last_ = now;
  MessageTally& row = row_of(sent, message.recv.bytes > 0);
  ++row.messages;
  row.bytes += message.recv.bytes;
  row.empty += kind == MessageKind::empty;
  row.repeated += kind == MessageKind::repeated;
  return kind;
}

MessageKind MessageUse::kind_of(const MatchedMessage& message, const Last& now) const {
  if (message.recv.bytes == 0) return MessageKind::empty;
  const auto at_once = [](const Call& a, const Call& b) {
    return a.path == b.path && b.enter >= a.enter && b.enter - a.leave <= kAtOnce;
  };
  const bool same = last_.from == now.from && last_.to == now.to && last_.comm == now.comm &&
                    last_.tag == now.tag;
  return same && at_once(last_.sent, now.sent) && at_once(last_.completed, now.completed)
             ? MessageKind::repeated
             : MessageKind::data;
}

MessageTally& MessageUse::row_of(const SentMessage& sent, bool data) {
  if (!open_.empty()) {
    MessageTally& row = rows_[open_.back().row];
    if (row.path == sent.met.path && row.sender == sent.met_at) {
      open_.back().data = open_.back().data || data;
      return row;
    }
  }
  const ProcessId sender = run_.location(sent.met_at).process;
  if (sender != sender_) close_sender();
  sender_ = sender;
  const uint64_t key = uint64_t{sent.met.path.index()} << 32 | sent.met_at.index();
  const uint32_t place = row_of_.at(key, static_cast<uint32_t>(rows_.size()));
  if (place == rows_.size()) rows_.push_back({sent.met.path, sent.met_at});
  size_t i = 0;
  while (i < open_.size() && open_[i].row != place) ++i;
  if (i == open_.size()) open_.push_back({place, false});
  std::swap(open_[i], open_.back());
  open_.back().data = open_.back().data || data;
  return rows_[place];
}

void MessageUse::close_sender() {
  for (const Open& open : open_) {
    ++rows_[open.row].receivers;
    rows_[open.row].silent += !open.data;
  }
  open_.clear();
}

std::vector<MessageTally> MessageUse::take() {
  close_sender();
  return std::exchange(rows_, {});
}

}  // namespace culprit::replay
