// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Requests that are on their way: the facts of their posting, found again by their handle when they
// complete.
//
// Handles are not unique. MPI hands the same one out again as soon as a request is complete, which
// another thread may see before the first has updated this table; and both MPIs have a shared
// handle for operations that were complete at once. So one handle leads to a list, oldest first;
// the place in memory where the caller keeps the handle distinguishes them, and among equals the
// oldest goes. MT: internally synchronised, by shards; no lock is held while MPI or the recorder
// runs.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "collector/mpi/arguments.h"
#include "collector/mpi/facts.h"

namespace culprit::collector::mpi {

enum class RequestKind : uint8_t {
  nothing,
  send,
  recv,
  send_and_recv,
  collective,
  comm_dup,
  window,  ///< a one-sided operation
  file,    ///< a transfer to or from a file
};

struct Request {
  RequestKind kind = RequestKind::nothing;
  bool plain = false;  ///< a message of which only the communicator matters when it completes: the
                       ///< table keeps no other field
  bool persistent = false;
  bool active = true;       ///< for persistent requests: started and not yet completed
  bool reported = false;    ///< MPI_Request_get_status has reported it; the completing call must
                            ///< not again
  bool cancelling = false;  ///< MPI_Cancel was called
  uint64_t id = 0;          ///< the activation's number; unique in the process
  MessageFacts message;     ///< send part, partitioned: complete. recv part: only the fields that
                            ///< the status of its completion lacks (communicator, matching)
  CollectiveFacts collective;
  CommPlace new_comm;      ///< comm_dup: where the new communicator appears
  int64_t partitions = 0;  ///< partitioned sends: number of partitions
  int64_t unready = 0;     ///< partitioned sends: those of this activation that have not been
                           ///< handed over
  uint64_t recv_id = 0;    ///< send_and_recv: the receive's own number
  MessageFacts receiving;  ///< send_and_recv: the message that the receive asked for
  uint32_t object = 0;     ///< window, file: its number
  uint16_t file_op = 0;    ///< file: trace::raw_file_op
};

uint64_t new_request_id();

/// Remembers a request just made; `place` is where the caller keeps its handle.
void add_request(MPI_Request handle, const void* place, const Request& request);

/// Notes the handle of a request just made in the record that announced it, if that is the newest.
void put_handle(ThreadLog& log, const Request& request, MPI_Request handle);

/// A persistent request is started: gives it new numbers. False if the table does not know it.
bool start_request(MPI_Request handle, const void* place, Request& started);

/// MPI goes on with the request under another handle.
void rename_request(MPI_Request before, const void* place, MPI_Request after);

/// MPI said that the request is complete. Removes it, or makes it inactive if persistent. False if
/// it is unknown, was inactive or has been reported before.
bool complete_request(MPI_Request handle, const void* place, Request& completed);

/// As complete_request, but MPI_Request_get_status leaves the request where it is.
bool report_request(MPI_Request handle, const void* place, Request& completed);

/// `count` partitions were handed over. True for the last of them: then `id` is the activation.
bool hand_over(MPI_Request handle, const void* place, int64_t count, uint64_t& id);

void cancel_request(MPI_Request handle, const void* place);
/// For MPI_Request_free: the request will complete, but no call will report it.
void drop_request(MPI_Request handle, const void* place);

}  // namespace culprit::collector::mpi
