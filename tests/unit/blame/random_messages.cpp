// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "tests/unit/blame/random_program.h"

namespace culprit::testing_support {

using trace::EventSink;
using trace::MpiMessage;
using trace::RequestId;

namespace {

/// Communicator 1 has the program's own order of ranks.
const CommId kProgram(1);

}  // namespace

MpiMessage RandomProgram::message_to(LocationId peer, int32_t tag) const {
  const ProcessId process = trace_.definitions_.locations[peer.index()].process;
  return {kProgram, rank_of_[process.index()], tag, 8};
}

/// Between masters. Each way to send has a tag, so that what overtakes what is never in doubt.
void RandomProgram::message(uint32_t from, uint32_t to) {
  const uint32_t sending = pick(0, shape_.plain ? 4 : 5);
  message(master(from), master(to), 1 + static_cast<int32_t>(sending), Sending(sending),
          Receiving(pick(0, shape_.plain ? 1 : 2)));
}

void RandomProgram::message(LocationId from, LocationId to, int32_t tag, Sending how,
                            Receiving how_received) {
  const int64_t sent = now(from), posted = now(to);
  // Handed over as a whole only later: it cannot arrive before.
  const int64_t complete = how == Sending::ready_later ? sent + last_for(20) : sent;
  MpiMessage out = message_to(to, tag), in = message_to(from, tag);
  out.partitioned = in.partitioned = how == Sending::ready_later;
  send(from, out, how, how == Sending::ready_later ? complete : posted);
  receive(to, in, how_received, complete);
}

/// `posted`: when the receive was; for ready_later, when the last partition is handed over.
void RandomProgram::send(LocationId at, const MpiMessage& message, Sending how, int64_t posted) {
  MpiMessage out = message;
  const char* const name = how == Sending::eager         ? "MPI_Send"
                           : how == Sending::synchronous ? "MPI_Ssend"
                           : how == Sending::buffered    ? "MPI_Bsend"
                           : how == Sending::started     ? "MPI_Isend"
                           : how == Sending::ready_later ? "MPI_Start"
                                                         : "MPI_Issend";
  enter(at, name);
  const bool blocking = how <= Sending::buffered;
  const int64_t end = (how == Sending::synchronous ? std::max(now(at), posted) : now(at));
  if (blocking) {
    put(at, now(at), [=](EventSink& sink, Time t) { sink.mpi_send(t, out); });
    return leave(at, end + last_for(2), name);
  }
  const RequestId request{++requests_};
  put(at, now(at), [=](EventSink& sink, Time t) { sink.mpi_isend(t, out, request); });
  leave(at, now(at), name);
  int64_t ready = how == Sending::started ? now(at) : posted;
  if (how == Sending::ready_later) {
    now(at) = std::max(now(at), posted);
    enter(at, "MPI_Pready");
    put(at, now(at), [=](EventSink& sink, Time t) { sink.mpi_isend_ready(t, request); });
    leave(at, now(at) + last_for(1), "MPI_Pready");
    ready = now(at);
  }
  const ProcessId process = trace_.definitions_.locations[at.index()].process;
  pending_[rank_of_[process.index()]].push_back(
      {ready, request, [=](EventSink& sink, Time t) { sink.mpi_isend_complete(t, request); }});
}

void RandomProgram::receive(LocationId at, const MpiMessage& message, Receiving how, int64_t sent) {
  MpiMessage in = message;
  if (how == Receiving::started) {
    const RequestId request{++requests_};
    enter(at, "MPI_Irecv");
    put(at, now(at), [=](EventSink& sink, Time t) { sink.mpi_irecv_request(t, request); });
    leave(at, now(at), "MPI_Irecv");
    const ProcessId process = trace_.definitions_.locations[at.index()].process;
    pending_[rank_of_[process.index()]].push_back(
        {sent, request, [=](EventSink& sink, Time t) { sink.mpi_irecv(t, in, request); }});
    return;
  }
  const bool probed = how == Receiving::probed;
  if (probed) {
    in.probe = trace::MatchedProbe{++probes_};
    enter(at, "MPI_Mprobe");
    const int64_t end = std::max(now(at), sent) + last_for(2);
    put(at, end, [=](EventSink& sink, Time t) { sink.mpi_probe(t, in); });
    leave(at, end, "MPI_Mprobe");
    if (toss()) work(at);
  }
  const char* const name = probed ? "MPI_Mrecv" : "MPI_Recv";
  enter(at, name);
  const int64_t end = std::max(now(at), sent) + last_for(2);
  put(at, end, [=](EventSink& sink, Time t) { sink.mpi_recv(t, in); });
  leave(at, end, name);
}

void RandomProgram::send_receive(uint32_t a, uint32_t b) {
  const int64_t met = std::max(now(master(a)), now(master(b)));
  for (auto [self, peer] : {std::pair{a, b}, std::pair{b, a}}) {
    const LocationId at = master(self);
    const MpiMessage message = message_to(master(peer), 9);
    enter(at, "MPI_Sendrecv");
    put(at, now(at), [=](EventSink& sink, Time t) { sink.mpi_send(t, message); });
    const int64_t end = met + last_for(2);
    put(at, end, [=](EventSink& sink, Time t) { sink.mpi_recv(t, message); });
    leave(at, end, "MPI_Sendrecv");
  }
}

void RandomProgram::shift(uint32_t by) {
  std::vector<int64_t> sent(ranks_);
  for (uint32_t r = 0; r < ranks_; ++r) sent[r] = now(master(r));
  const bool holds = toss(3);  // the library holds sends until their receivers come
  for (uint32_t r = 0; r < ranks_; ++r) {
    const uint32_t to = (r + by) % ranks_, from = (r + ranks_ - by) % ranks_;
    const MpiMessage out = message_to(master(to), 10), in = message_to(master(from), 10);
    const LocationId at = master(r);
    enter(at, "MPI_Sendrecv");
    put(at, now(at), [=](EventSink& sink, Time t) { sink.mpi_send(t, out); });
    const int64_t end = std::max({sent[r], sent[from], holds ? sent[to] : 0}) + last_for(2);
    put(at, end, [=](EventSink& sink, Time t) { sink.mpi_recv(t, in); });
    leave(at, end, "MPI_Sendrecv");
  }
}

void RandomProgram::cancelled_receive(uint32_t rank) {
  const LocationId at = master(rank);
  const RequestId request{++requests_};
  enter(at, "MPI_Irecv");
  put(at, now(at), [=](EventSink& sink, Time t) { sink.mpi_irecv_request(t, request); });
  leave(at, now(at) + last_for(1), "MPI_Irecv");
  enter(at, "MPI_Wait");
  put(at, now(at), [=](EventSink& sink, Time t) { sink.mpi_request_cancelled(t, request); });
  leave(at, now(at) + last_for(1), "MPI_Wait");
}

void RandomProgram::complete(uint32_t rank) {
  std::vector<Pending>& pending = pending_[rank];
  const LocationId at = master(rank);
  if (pending.empty()) return;
  if (toss(3)) return complete_all(rank);
  // One, by waiting for it or by testing until it is there.
  const Pending one = std::move(pending.front());
  pending.erase(pending.begin());
  const bool test = toss();
  while (test && now(at) < one.ready) {
    enter(at, "MPI_Test");
    put(at, now(at), [=](EventSink& sink, Time t) { sink.mpi_request_test(t, one.request); });
    leave(at, now(at) + 1 + last_for(1), "MPI_Test");
    now(at) += last_for(10);
  }
  const char* const name = test ? "MPI_Test" : "MPI_Wait";
  enter(at, name);
  const int64_t end = std::max(now(at), one.ready) + last_for(2);
  put(at, end, one.complete);
  leave(at, end, name);
}

void RandomProgram::complete_all(uint32_t rank) {
  std::vector<Pending>& pending = pending_[rank];
  if (pending.empty()) return;
  const LocationId at = master(rank);
  int64_t end = now(at);
  for (const Pending& one : pending) end = std::max(end, one.ready);
  end += last_for(2);
  enter(at, "MPI_Waitall");
  for (const Pending& one : pending) put(at, end, one.complete);
  leave(at, end, "MPI_Waitall");
  pending.clear();
}

}  // namespace culprit::testing_support
