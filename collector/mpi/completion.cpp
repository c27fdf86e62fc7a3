// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Requests that start, complete and go (handlers.h). A completing call sets the caller's handles to
// null, so they are copied before. Tests are recorded as calls only if they complete something; the
// others become one mpi_tests record (region.h, Poll).

#include <cstdlib>

#include "collector/mpi/facts.h"
#include "collector/mpi/groups/comm_definition.h"
#include "collector/mpi/groups/comms.h"
#include "collector/mpi/handlers.h"
#include "collector/mpi/requests.h"

namespace culprit::collector::mpi {
namespace {

/// The handles as they were before the real call.
class Snapshot {
 public:
  Snapshot(const Requests& requests, bool wanted) {
    if (!wanted) return;
    count_ = requests.count();
    if (count_ > kInline) {
      heap_ = static_cast<MPI_Request*>(std::malloc(sizeof(MPI_Request) * size_t(count_)));
      handles_ = heap_;
      if (!heap_) count_ = 0;  // these requests' completions go unrecorded
    }
    for (int i = 0; i < count_; ++i) handles_[i] = requests[i];
  }
  ~Snapshot() { std::free(heap_); }
  Snapshot(const Snapshot&) = delete;
  Snapshot& operator=(const Snapshot&) = delete;
  int count() const { return count_; }
  MPI_Request operator[](int i) const { return handles_[i]; }

 private:
  static constexpr int kInline = 32;
  MPI_Request inline_[kInline];
  MPI_Request* handles_ = inline_;
  MPI_Request* heap_ = nullptr;
  int count_ = 0;
};

bool was_cancelled(const Request& request, const Statuses& statuses, int index) {
  if (!request.cancelling || !statuses.readable()) return false;
  const MPI_Status status = statuses[index];
  int flag = 0;
  return PMPI_Test_cancelled(&status, &flag) == MPI_SUCCESS && flag;
}

void put_received(const CallRegion& region, const Request& request, uint64_t id,
                  const Statuses& statuses, int index) {
  MessageFacts message = request.message;
  if (message.matching != trace::RawMatching::partitioned) {
    if (!statuses.readable()) return;
    message = message_of(request.message.comm, statuses[index]);
    message.matching = request.message.matching;
    message.number = request.message.number;
  }
  put_irecv(region.log(), region.end(), message, id);
}

/// The message that the receiving half of a combined request got. MPICH 4.0 leaves the status of
/// such a request unset; where it contradicts the request, the request's own fields count.
MessageFacts received_by_both(const Request& request, const Statuses& statuses, int index) {
  if (!statuses.readable()) return request.receiving;
  const MessageFacts asked = request.receiving;
  const MessageFacts got = message_of(asked.comm, statuses[index]);
  const bool credible = (asked.peer == MPI_ANY_SOURCE || asked.peer == got.peer) &&
                        (asked.tag == MPI_ANY_TAG || asked.tag == got.tag) &&
                        got.bytes <= asked.bytes;
  return credible ? got : asked;
}

/// The parent may be gone by now.
CommOrigin birth_of_dup(uint32_t parent) {
  CommOrigin birth;
  birth.parent = parent;
  birth.same_members = true;
  return birth;
}

/// Writes the record of one request's completion, by its kind.
void put_completed(const CallRegion& region, const Request& request, const Statuses& statuses,
                   int index) {
  ThreadLog& log = region.log();
  if (was_cancelled(request, statuses, index)) {
    log.put(region.end(), raw::mpi_cancelled{.request = request.id});
    return;
  }
  switch (request.kind) {
    case RequestKind::nothing:
      break;
    case RequestKind::send:
      log.put(region.end(), raw::mpi_isend_done{.request = request.id});
      break;
    case RequestKind::recv:
      put_received(region, request, request.id, statuses, index);
      break;
    case RequestKind::send_and_recv:
      log.put(region.end(), raw::mpi_isend_done{.request = request.id});
      put_irecv(log, region.end(), received_by_both(request, statuses, index), request.recv_id);
      break;
    case RequestKind::comm_dup:
      define_comm(log, region.end(), request.new_comm.get(), birth_of_dup(request.collective.comm));
      [[fallthrough]];
    case RequestKind::collective:
      put_icollective(log, region.end(), request.collective, request.id);
      break;
    case RequestKind::window:
      log.put(region.end(), raw::rma_op_done{.window = request.object, .request = request.id});
      break;
    case RequestKind::file:
      log.put(
          region.end(),
          raw::file_op_done{.file = request.object,
                            .op = request.file_op,
                            .bytes = statuses.readable() ? message_of(0, statuses[index]).bytes : 0,
                            .request = request.id});
      break;
  }
}

/// Records that the call cannot return before all, or one, of these requests are complete.
void await_requests(CallRegion& region, trace::RawAwaits what, const Snapshot& requests) {
  uint64_t handles[trace::kRawAwaitedAtMost];
  unsigned count = 0;
  uint32_t all = 0;
  for (int i = 0; i < requests.count(); ++i) {
    if (requests[i] == MPI_REQUEST_NULL) continue;
    if (count < trace::kRawAwaitedAtMost) handles[count++] = key_of(requests[i]);
    ++all;
  }
  if (all > 0) region.awaits(what, all, handles, count);
}

/// One completion call: the handles before it, and what each completed index leads to.
class Completion {
 public:
  Completion(const Requests& requests, const Statuses& statuses, bool wanted)
      : requests_(requests), statuses_(statuses), before_(requests, wanted) {}

  void await(CallRegion& region, trace::RawAwaits what) const {
    if (region) await_requests(region, what, before_);
  }

  /// The request at `index` is complete; its status is number `status`.
  void complete(const CallRegion& region, int index, int status) const {
    if (index < 0 || index >= before_.count()) return;
    Request request;
    if (complete_request(before_[index], requests_.place(index), request)) {
      put_completed(region, request, statuses_, status);
    }
  }
  /// The completion of `index` failed. If its handle is null now, no later call can complete it.
  void fail(int index) const {
    if (index < 0 || index >= before_.count()) return;
    if (before_[index] == MPI_REQUEST_NULL || requests_[index] != MPI_REQUEST_NULL) return;
    drop_request(before_[index], requests_.place(index));
  }
  /// All requests are complete, or after MPI_ERR_IN_STATUS those whose status says so.
  void complete_all(const CallRegion& region, int rc) const {
    for (int i = 0; i < before_.count(); ++i) {
      if (succeeded(rc, i)) {
        complete(region, i, i);
      } else {
        fail(i);
      }
    }
  }
  /// The call failed without naming a request.
  void fail_all() const {
    for (int i = 0; i < before_.count(); ++i) fail(i);
  }
  /// Completes the requests that the list of indices names.
  void complete_some(const CallRegion& region, int rc, int outcount, const int* indices) const {
    const int base = base_of(outcount, indices);
    for (int i = 0; i < outcount; ++i) {  // none if MPI_UNDEFINED, which is negative
      if (succeeded(rc, i)) {
        complete(region, indices[i] - base, i);
      } else {
        fail(indices[i] - base);
      }
    }
  }
  void complete_one(const CallRegion& region, int index) const {
    complete_some(region, MPI_SUCCESS, 1, &index);
  }
  /// False for MPI_UNDEFINED, also where a Fortran layer has added 1 to it.
  bool names_a_request(int index) const { return index >= 0 && index <= before_.count(); }
  bool anything_to_complete() const {
    for (int i = 0; i < before_.count(); ++i) {
      if (before_[i] != MPI_REQUEST_NULL) return true;
    }
    return false;
  }

 private:
  bool succeeded(int rc, int status) const {
    if (rc == MPI_SUCCESS) return true;
    return rc == MPI_ERR_IN_STATUS && statuses_.readable() &&
           statuses_[status].MPI_ERROR == MPI_SUCCESS;
  }

  /// The offset to subtract from returned indices. Fortran counts from 1, but MPICH 4.0's mpi_f08
  /// returns them from 0: which it is shows in the requests that turned null.
  int base_of(int outcount, const int* indices) const {
    if (requests_.language() == Language::c) return 0;
    return !all_turned_null(outcount, indices, 1) && all_turned_null(outcount, indices, 0) ? 0 : 1;
  }
  bool all_turned_null(int outcount, const int* indices, int base) const {
    for (int i = 0; i < outcount; ++i) {
      const int index = indices[i] - base;
      if (index < 0 || index >= before_.count()) return false;
      if (before_[index] == MPI_REQUEST_NULL || requests_[index] != MPI_REQUEST_NULL) return false;
    }
    return true;
  }

  const Requests& requests_;
  const Statuses& statuses_;
  Snapshot before_;
};

bool partly_successful(int rc) {
  return rc == MPI_SUCCESS || rc == MPI_ERR_IN_STATUS;
}

/// Announces the activation of a persistent request.
void put_started(const CallRegion& region, const Request& request, uint64_t handle) {
  ThreadLog& log = region.log();
  switch (request.kind) {
    case RequestKind::send:
      put_isend(log, region.begin(), request.message, request.id, handle);
      break;
    case RequestKind::recv:
      put_irecv_post(log, region.begin(), request.message, request.id, handle);
      break;
    case RequestKind::collective:
      put_icoll_post(log, region.begin(), request.collective, request.id, handle);
      break;
    case RequestKind::nothing:
    case RequestKind::send_and_recv:
    case RequestKind::comm_dup:
    case RequestKind::window:
    case RequestKind::file:
      break;
  }
}

}  // namespace

int on_start(const Function& function, const Requests& requests, RealCall call) {
  CallRegion region(function);
  for (int i = 0; region && i < requests.count(); ++i) {
    Request request;
    if (start_request(requests[i], requests.place(i), request))
      put_started(region, request, key_of(requests[i]));
  }
  const Snapshot before(requests, static_cast<bool>(region));
  const int rc = region.run(call);
  // Open MPI replaces a request that the network still needs: a buffered send whose data has not
  // left the buffer. This is noted where the call fails, too, for requests that were started before
  // the fault.
  for (int i = 0; i < before.count(); ++i) {
    const MPI_Request after = requests[i];
    if (after != before[i]) rename_request(before[i], requests.place(i), after);
  }
  return rc;
}

int on_wait(const Function& function, const Requests& requests, const Statuses& statuses,
            RealCall call) {
  CallRegion region(function);
  const Completion completion(requests, statuses, static_cast<bool>(region));
  completion.await(region, trace::RawAwaits::all_requests);
  const int rc = region.run(call);
  if (region) completion.complete_all(region, rc);
  return rc;
}

int on_waitany(const Function& function, const Requests& requests, const int* index,
               const Statuses& status, RealCall call) {
  CallRegion region(function);
  const Completion completion(requests, status, static_cast<bool>(region));
  completion.await(region, trace::RawAwaits::any_request);
  const int rc = region.run(call);
  if (!region) return rc;
  if (rc != MPI_SUCCESS) {
    completion.fail_all();
  } else if (completion.names_a_request(*index)) {
    completion.complete_one(region, *index);
  }
  return rc;
}

int on_waitsome(const Function& function, const Requests& requests, const int* outcount,
                const int* indices, const Statuses& statuses, RealCall call) {
  CallRegion region(function);
  const Completion completion(requests, statuses, static_cast<bool>(region));
  completion.await(region, trace::RawAwaits::any_request);
  const int rc = region.run(call);
  if (!region) return rc;
  if (partly_successful(rc)) {
    completion.complete_some(region, rc, *outcount, indices);
  } else {
    completion.fail_all();
  }
  return rc;
}

int on_test(const Function& function, const Requests& requests, const int* flag,
            const Statuses& statuses, RealCall call) {
  Poll poll(function);
  const Completion completion(requests, statuses, thread_log() != nullptr);
  const int rc = poll.run(call);
  if (rc == MPI_SUCCESS && (!*flag || !completion.anything_to_complete())) {
    poll.fruitless();
    return rc;
  }
  const CallRegion region = poll.region();
  if (region) completion.complete_all(region, rc);
  return rc;
}

int on_testany(const Function& function, const Requests& requests, const int* index,
               const int* flag, const Statuses& status, RealCall call) {
  Poll poll(function);
  const Completion completion(requests, status, thread_log() != nullptr);
  const int rc = poll.run(call);
  if (rc == MPI_SUCCESS && (!*flag || !completion.names_a_request(*index))) {
    poll.fruitless();
    return rc;
  }
  const CallRegion region = poll.region();
  if (!region) return rc;
  if (rc == MPI_SUCCESS) {
    completion.complete_one(region, *index);
  } else {
    completion.fail_all();
  }
  return rc;
}

int on_testsome(const Function& function, const Requests& requests, const int* outcount,
                const int* indices, const Statuses& statuses, RealCall call) {
  Poll poll(function);
  const Completion completion(requests, statuses, thread_log() != nullptr);
  const int rc = poll.run(call);
  if (rc == MPI_SUCCESS && *outcount <= 0) {
    poll.fruitless();
    return rc;
  }
  const CallRegion region = poll.region();
  if (!region) return rc;
  if (partly_successful(rc)) {
    completion.complete_some(region, rc, *outcount, indices);
  } else {
    completion.fail_all();
  }
  return rc;
}

int on_request_get_status(const Function& function, const Requests& request, const int* flag,
                          const Statuses& status, RealCall call) {
  Poll poll(function);
  const int rc = poll.run(call);
  Request completed;
  const bool news =
      poll && rc == MPI_SUCCESS && *flag && report_request(request[0], request.place(0), completed);
  if (rc == MPI_SUCCESS && !news) {
    poll.fruitless();
    return rc;
  }
  const CallRegion region = poll.region();
  if (news) put_completed(region, completed, status, 0);
  return rc;
}

int on_request_free(const Function& function, const Requests& request, RealCall call) {
  CallRegion region(function);
  const Snapshot before(request, static_cast<bool>(region));
  const int rc = region.run(call);
  if (before.count() > 0 && rc == MPI_SUCCESS) drop_request(before[0], request.place(0));
  return rc;
}

int on_pready(const Function& function, int64_t partitions, const Requests& request,
              RealCall call) {
  CallRegion region(function);
  uint64_t id = 0;
  if (region && hand_over(request[0], request.place(0), partitions, id)) {
    region.log().put(region.begin(), raw::mpi_part_ready{.request = id});
  }
  return region.run(call);
}

int on_cancel(const Function& function, const Requests& request, RealCall call) {
  CallRegion region(function);
  if (region) cancel_request(request[0], request.place(0));
  return region.run(call);
}

}  // namespace culprit::collector::mpi
