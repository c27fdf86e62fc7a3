// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The part of TimelineBuilder that keeps messages and collective operations. Requests that another
// thread goes on with are left to join_requests.
#include <algorithm>
#include <bit>

#include "replay/read/timeline_builder.h"

namespace culprit::replay {

MessageOp TimelineBuilder::message_op(const trace::MpiMessage& message, CallIndex call) const {
  MessageOp op;
  op.posted = op.completed = CallKey::own(call);
  op.comm = message.comm;
  op.peer = message.peer;
  op.tag = message.tag;
  op.bytes = static_cast<uint32_t>(std::min<uint64_t>(message.bytes, UINT32_MAX));
  op.rare = message.partitioned != 0 || message.probe != trace::MatchedProbe::none;
  return op;
}

void TimelineBuilder::add_rare(RareMessages& rare, size_t op, const trace::MpiMessage& message) {
  RareMessage& more = rare[static_cast<uint32_t>(op)];
  more.partitioned = message.partitioned;
  more.probe = message.probe;
}

void TimelineBuilder::foreign(ForeignRequest::Step step, trace::RequestId request, Time time,
                              CallIndex call, size_t op) {
  line_.open.foreign.push_back(
      {step, request, time, call, static_cast<uint32_t>(op), !top_traits().test});
}

void TimelineBuilder::mpi_send(Time time, const trace::MpiMessage& message) {
  MessageOp send = message_op(message, current_call(time));
  send.may_wait = !top_traits().never_blocks;
  if (send.rare) add_rare(line_.rare_sends, line_.sends.size(), message);
  line_.sends.push_back(send);
}

void TimelineBuilder::mpi_recv(Time time, const trace::MpiMessage& message) {
  MessageOp recv = message_op(message, current_call(time));
  recv.may_wait = !top_traits().test;
  probes_.completed();
  probes_.posted(line_.recvs.size());
  probes_.completed_posted(line_.recvs.size(), message);
  if (recv.rare) add_rare(line_.rare_recvs, line_.recvs.size(), message);
  line_.recvs.push_back(recv);
}

void TimelineBuilder::mpi_isend(Time time, const trace::MpiMessage& message,
                                trace::RequestId request) {
  MessageOp send = message_op(message, current_call(time));
  send.completed = CallKey();
  send.may_wait = !top_traits().never_blocks;
  if (send.rare) add_rare(line_.rare_sends, line_.sends.size(), message);
  line_.open.sends.set(static_cast<uint64_t>(request), static_cast<uint32_t>(line_.sends.size()));
  line_.sends.push_back(send);
}

void TimelineBuilder::mpi_isend_complete(Time time, trace::RequestId request) {
  const CallIndex call = current_call(time);
  const uint32_t pending = line_.open.sends.take(static_cast<uint64_t>(request));
  if (pending == FlatMap::kNone) return foreign(ForeignRequest::Step::sent, request, time, call);
  MessageOp& send = line_.sends[pending];
  send.completed = CallKey::own(call);
  send.may_wait = send.may_wait && !top_traits().test;
}

void TimelineBuilder::mpi_isend_ready(Time time, trace::RequestId request) {
  const CallIndex call = current_call(time);
  const uint32_t pending = line_.open.sends.find(static_cast<uint64_t>(request));
  if (pending == FlatMap::kNone) return foreign(ForeignRequest::Step::ready, request, time, call);
  line_.sends[pending].rare = true;
  line_.rare_sends[pending].met = {location_, call};
}

void TimelineBuilder::mpi_irecv_request(Time time, trace::RequestId request) {
  MessageOp recv;
  recv.posted = CallKey::own(current_call(time));
  recv.may_wait = false;
  probes_.posted(line_.recvs.size());
  line_.open.recvs.set(static_cast<uint64_t>(request), static_cast<uint32_t>(line_.recvs.size()));
  line_.recvs.push_back(recv);
}

void TimelineBuilder::mpi_irecv(Time time, const trace::MpiMessage& message,
                                trace::RequestId request) {
  const CallIndex call = current_call(time);
  size_t op = line_.open.recvs.take(static_cast<uint64_t>(request));
  MessageOp recv = message_op(message, call);
  if (op != FlatMap::kNone) {
    recv.posted = line_.recvs[op].posted;
    line_.recvs[op] = recv;
  } else {
    op = line_.recvs.size();
    line_.recvs.push_back(recv);  // posted here until its posting is found elsewhere
    foreign(ForeignRequest::Step::received, request, time, call, op);
  }
  line_.recvs[op].may_wait = !top_traits().test;
  probes_.received(op, top_traits().asking, message.partitioned != 0);
  probes_.completed_posted(op, message);
  if (recv.rare) add_rare(line_.rare_recvs, op, message);
}

void TimelineBuilder::mpi_request_cancelled(Time time, trace::RequestId request) {
  touch(time);
  // The operation stays uncompleted: matching skips it.
  const bool known = line_.open.recvs.take(static_cast<uint64_t>(request)) != FlatMap::kNone ||
                     line_.open.sends.take(static_cast<uint64_t>(request)) != FlatMap::kNone;
  if (!known) foreign(ForeignRequest::Step::cancelled, request, time, current_call(time));
}

void TimelineBuilder::mpi_probe(Time time, const trace::MpiMessage& message) {
  const CallIndex call = current_call(time);
  probes_.probed(message, top_traits().asking, call);
  if (message.probe == trace::MatchedProbe::none) return;
  line_.open.probes.set(static_cast<uint64_t>(message.probe), static_cast<uint32_t>(call.index()));
}

void TimelineBuilder::add_collective(const trace::MpiCollective& what, CallIndex posted,
                                     CallIndex completed, bool may_wait) {
  probes_.completed();
  CollectiveOp op;
  op.posted = CallKey::own(posted);
  op.completed = CallKey::own(completed);
  op.comm = what.comm;
  op.root = what.root.value_or(what.is_root ? CollectiveOp::kIsRoot : CollectiveOp::kNoRoot);
  op.sends_to = what.sends_to;
  op.receives_from = what.receives_from;
  op.bytes_received = what.bytes_received;
  op.sent_width = static_cast<uint8_t>(std::bit_width(what.bytes_sent));
  op.op = what.op;
  op.may_wait = may_wait;
  line_.collectives.push_back(op);
}

void TimelineBuilder::mpi_collective(Time time, const trace::MpiCollective& what) {
  const CallIndex call = current_call(time);
  add_collective(what, call, call, !top_traits().not_recorded);
}

void TimelineBuilder::mpi_icollective_request(Time time, trace::RequestId request) {
  line_.open.collectives.set(static_cast<uint64_t>(request),
                             static_cast<uint32_t>(current_call(time).index()));
}

void TimelineBuilder::mpi_icollective_complete(Time time, const trace::MpiCollective& what,
                                               trace::RequestId request) {
  const CallIndex call = current_call(time);
  const uint32_t pending = line_.open.collectives.take(static_cast<uint64_t>(request));
  if (pending == FlatMap::kNone) {
    foreign(ForeignRequest::Step::collective, request, time, call, line_.collectives.size());
  }
  const CallIndex posted = pending == FlatMap::kNone ? call : CallIndex(pending);
  add_collective(what, posted, call, !top_traits().test);
  line_.collectives.back().polled =
      probes_.completed_collective(line_.collectives.size() - 1, top_traits().asking);
}

}  // namespace culprit::replay
