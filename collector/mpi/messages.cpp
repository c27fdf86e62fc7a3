// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Point-to-point calls (handlers.h). A send is recorded when it is posted, a receive when it is
// over, from the status: only the status has source, tag and size. MPI_PROC_NULL exchanges nothing
// and leaves no record; its requests are remembered all the same, since they share their handle
// with others.

#include <atomic>

#include "collector/mpi/facts.h"
#include "collector/mpi/groups/comms.h"
#include "collector/mpi/handlers.h"
#include "collector/mpi/requests.h"
#include "collector/process/selection.h"

namespace culprit::collector::mpi {
namespace {

MessageFacts facts_of(const CallRegion& region, const Message& message) {
  const Comm comm = comm_of(region.log(), region.begin(), message.comm);
  MessageFacts facts;
  facts.comm = comm.id;
  facts.peer = message.peer;
  facts.tag = message.tag;
  facts.bytes = bytes_of(message.count, message.type);
  return facts;
}

/// Records that the call cannot return before a matching message has come. Returns the number of
/// its communicator.
uint32_t await(CallRegion& region, const Wanted& wanted) {
  if (!region) return 0;
  const uint32_t comm = comm_of(region.log(), region.begin(), wanted.comm).id;
  if (wanted.peer != MPI_PROC_NULL) {
    const auto source = static_cast<uint32_t>(asked_source(wanted.peer));
    const auto tag = static_cast<uint32_t>(asked_tag(wanted.tag));
    region.awaits(trace::RawAwaits::message, comm, {source | uint64_t{tag} << 32});
  }
  return comm;
}

/// A number for matched probes and the sides of partitioned communication: unique in the process.
uint64_t new_number() {
  static std::atomic<uint64_t> last{0};
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

/// `found_by`: number of the matched probe that found the message, or 0.
void put_received(const CallRegion& region, uint32_t comm, const Statuses& status,
                  uint64_t found_by = 0) {
  if (!status.readable()) return;
  const MPI_Status received = status[0];
  if (received.MPI_SOURCE == MPI_PROC_NULL) return;
  MessageFacts message = message_of(comm, received);
  if (found_by != 0) {
    message.matching = trace::RawMatching::probed;
    message.number = found_by;
  }
  put_recv(region.log(), region.end(), message);
}

/// Records the message that a probe has found; `number`: of a matched probe, or 0.
void put_probed(const CallRegion& region, uint32_t comm, const Statuses& status, uint64_t number) {
  if (!status.readable()) return;
  const MPI_Status found = status[0];
  if (found.MPI_SOURCE == MPI_PROC_NULL) return;
  const MessageFacts message = message_of(comm, found);
  region.log().put(region.end(), raw::mpi_probe{.comm = comm,
                                                .peer = message.peer,
                                                .tag = message.tag,
                                                .bytes = message.bytes,
                                                .number = number});
}

/// Describes a send and announces it under a number of its own.
void post_send(const CallRegion& region, const Message& message, Request& request) {
  if (message.peer == MPI_PROC_NULL) return;
  request.kind = RequestKind::send;
  request.message = facts_of(region, message);
  if (request.persistent) return;  // it is announced when it is started
  request.id = new_request_id();
  put_isend(region.log(), region.begin(), request.message, request.id, 0);
}

void post_recv(const CallRegion& region, const MessageFacts& wanted, Request& request,
               uint64_t found_by = 0) {
  request.kind = RequestKind::recv;
  request.message = wanted;
  if (found_by != 0) {
    request.message.matching = trace::RawMatching::probed;
    request.message.number = found_by;
  }
  if (request.persistent) return;
  request.id = new_request_id();
  put_irecv_post(region.log(), region.begin(), request.message, request.id, 0);
}

/// The requested message; its size comes from its completion.
MessageFacts asked(const CallRegion& region, const Message& message) {
  MessageFacts facts;
  facts.comm = comm_of(region.log(), region.begin(), message.comm).id;
  facts.peer = message.peer;
  facts.tag = message.tag;
  return facts;
}

int run_and_add(CallRegion& region, const Requests& place, const Request& request, RealCall call) {
  const int rc = region.run(call);
  if (!region || rc != MPI_SUCCESS) return rc;
  put_handle(region.log(), request, place[0]);
  add_request(place[0], place.place(0), request);
  return rc;
}

int post(const Function& function, const Message& message, bool send, bool persistent,
         const Requests& place, RealCall call) {
  CallRegion region(function);
  Request request;
  request.persistent = persistent;
  request.active = request.plain = !persistent;
  if (region && send) post_send(region, message, request);
  if (region && !send && message.peer != MPI_PROC_NULL) {
    post_recv(region, asked(region, message), request);
  }
  return run_and_add(region, place, request, call);
}

/// A message that a probe has found, on its way into the call that receives it. It leaves the table
/// before that call: during it MPI may give another thread the same handle for another message.
class FoundMessage {
 public:
  FoundMessage(const CallRegion& region, const MessagePlace& place)
      : place_(place), handle_(place.get()) {
    if (!region || is_none(handle_)) return;
    HandleEntry* entry = find_handle(HandleKind::message, key_of(handle_), comm_);
    known_ = entry != nullptr;
    if (known_) number_ = number_of(entry);
    forget(entry);
    if (!known_) count_unknown();
  }
  explicit operator bool() const { return known_; }
  uint32_t comm() const { return comm_.id; }
  uint64_t number() const { return number_; }
  /// The call has failed: if the caller still owns the message, it may try again.
  void give_back() const {
    if (known_ && place_.get() == handle_) {
      remember_handle(HandleKind::message, key_of(handle_), comm_, number_);
    }
  }
  static bool is_none(MPI_Message handle) {
    return handle == MPI_MESSAGE_NULL || handle == MPI_MESSAGE_NO_PROC;
  }

 private:
  /// Counts a receive that cannot be recorded because its probe was not.
  static void count_unknown() {
    trace::RawProcess* record = process();
    if (!record) return;
    std::atomic_ref<uint64_t>(record->skipped_callbacks).fetch_add(1, std::memory_order_relaxed);
  }

  const MessagePlace& place_;
  MPI_Message handle_;
  Comm comm_;
  uint64_t number_ = 0;
  bool known_ = false;
};

void put_matched(const CallRegion& region, MPI_Comm handle, const MessagePlace& place,
                 const Statuses& status) {
  const MPI_Message message = place.get();
  if (FoundMessage::is_none(message)) return;
  const Comm comm = comm_of(region.log(), region.end(), handle);
  const uint64_t number = new_number();
  remember_handle(HandleKind::message, key_of(message), comm, number);
  put_probed(region, comm.id, status, number);
}

int init_partitioned(const Function& function, bool send, int64_t partitions,
                     const Message& message, const Requests& place, RealCall call) {
  CallRegion region(function);
  Request request;
  request.persistent = true;
  request.active = false;
  if (region && message.peer != MPI_PROC_NULL) {
    request.kind = send ? RequestKind::send : RequestKind::recv;
    request.partitions = send ? partitions : 0;
    request.message = facts_of(region, message);
    request.message.bytes *= static_cast<uint64_t>(partitions > 0 ? partitions : 0);
    const uint64_t number = new_number();
    region.log().put(region.begin(), raw::mpi_part_init{.comm = request.message.comm,
                                                        .sends = send,
                                                        .peer = message.peer,
                                                        .tag = message.tag,
                                                        .bytes = request.message.bytes,
                                                        .number = number});
    request.message.matching = trace::RawMatching::partitioned;
    request.message.number = number;
  }
  return run_and_add(region, place, request, call);
}

}  // namespace

int on_plain(const Function& function, RealCall call) {
  if (!recording()) return call();
  CallRegion region(function);
  return region.run(call);
}

int on_send(const Function& function, const Message& message, RealCall call) {
  CallRegion region(function);
  if (region && message.peer != MPI_PROC_NULL) {
    put_send(region.log(), region.begin(), facts_of(region, message));
  }
  return region.run(call);
}

int on_recv(const Function& function, const Wanted& wanted, const Statuses& status, RealCall call) {
  CallRegion region(function);
  const uint32_t comm = await(region, wanted);
  const int rc = region.run(call);
  if (region && rc == MPI_SUCCESS) put_received(region, comm, status);
  return rc;
}

int on_sendrecv(const Function& function, const Message& message, const Wanted& wanted,
                const Statuses& status, RealCall call) {
  CallRegion region(function);
  if (!region) return region.run(call);
  if (message.peer != MPI_PROC_NULL) {
    put_send(region.log(), region.begin(), facts_of(region, message));
  }
  const uint32_t comm = await(region, wanted);
  const int rc = region.run(call);
  if (rc == MPI_SUCCESS) put_received(region, comm, status);
  return rc;
}

int on_isend(const Function& function, const Message& message, const Requests& request,
             RealCall call) {
  return post(function, message, true, false, request, call);
}

int on_irecv(const Function& function, const Message& message, const Requests& request,
             RealCall call) {
  return post(function, message, false, false, request, call);
}

int on_send_init(const Function& function, const Message& message, const Requests& request,
                 RealCall call) {
  return post(function, message, true, true, request, call);
}

int on_recv_init(const Function& function, const Message& message, const Requests& request,
                 RealCall call) {
  return post(function, message, false, true, request, call);
}

int on_psend_init(const Function& function, int64_t partitions, const Message& message,
                  const Requests& request, RealCall call) {
  return init_partitioned(function, true, partitions, message, request, call);
}

int on_precv_init(const Function& function, int64_t partitions, const Message& message,
                  const Requests& request, RealCall call) {
  return init_partitioned(function, false, partitions, message, request, call);
}

int on_isendrecv(const Function& function, const Message& sent, const Message& received,
                 const Requests& place, RealCall call) {
  CallRegion region(function);
  Request request;
  if (region) {
    post_send(region, sent, request);
    if (received.peer != MPI_PROC_NULL) {
      const bool both = request.kind == RequestKind::send;
      request.kind = both ? RequestKind::send_and_recv : RequestKind::recv;
      request.receiving = facts_of(region, received);
      request.recv_id = new_request_id();
      if (!both) request.id = request.recv_id, request.message = request.receiving;
      put_irecv_post(region.log(), region.begin(), request.receiving, request.recv_id, 0);
    }
  }
  return run_and_add(region, place, request, call);
}

int on_probe(const Function& function, const Wanted& wanted, const Statuses& status,
             RealCall call) {
  CallRegion region(function);
  const uint32_t comm = await(region, wanted);
  const int rc = region.run(call);
  if (region && rc == MPI_SUCCESS) put_probed(region, comm, status, 0);
  return rc;
}

int on_iprobe(const Function& function, MPI_Comm comm, const int* flag, const Statuses& status,
              RealCall call) {
  Poll poll(function);
  const int rc = poll.run(call);
  if (rc == MPI_SUCCESS && !*flag) {
    poll.fruitless();
    return rc;
  }
  const CallRegion region = poll.region();
  if (region && rc == MPI_SUCCESS) {
    put_probed(region, comm_of(region.log(), region.end(), comm).id, status, 0);
  }
  return rc;
}

int on_mprobe(const Function& function, const Wanted& wanted, const MessagePlace& message,
              const Statuses& status, RealCall call) {
  CallRegion region(function);
  await(region, wanted);
  const int rc = region.run(call);
  if (region && rc == MPI_SUCCESS) put_matched(region, wanted.comm, message, status);
  return rc;
}

int on_improbe(const Function& function, MPI_Comm comm, const int* flag,
               const MessagePlace& message, const Statuses& status, RealCall call) {
  Poll poll(function);
  const int rc = poll.run(call);
  if (rc == MPI_SUCCESS && !*flag) {
    poll.fruitless();
    return rc;
  }
  const CallRegion region = poll.region();
  if (region && rc == MPI_SUCCESS) put_matched(region, comm, message, status);
  return rc;
}

int on_poll(const Function& function, const int* flag, RealCall call) {
  Poll poll(function);
  const int rc = poll.run(call);
  if (rc == MPI_SUCCESS && !*flag) {
    poll.fruitless();
  } else {
    poll.region();
  }
  return rc;
}

int on_mrecv(const Function& function, const MessagePlace& message, const Statuses& status,
             RealCall call) {
  CallRegion region(function);
  const FoundMessage found(region, message);
  const int rc = region.run(call);
  if (rc != MPI_SUCCESS) {
    found.give_back();
  } else if (found) {
    put_received(region, found.comm(), status, found.number());
  }
  return rc;
}

int on_imrecv(const Function& function, const MessagePlace& message, const Requests& place,
              RealCall call) {
  CallRegion region(function);
  Request request;
  const FoundMessage found(region, message);
  if (found) {
    MessageFacts message;
    message.comm = found.comm();
    message.peer = MPI_ANY_SOURCE;
    message.tag = MPI_ANY_TAG;
    post_recv(region, message, request, found.number());
  }
  const int rc = run_and_add(region, place, request, call);
  if (rc != MPI_SUCCESS) found.give_back();
  return rc;
}

}  // namespace culprit::collector::mpi
