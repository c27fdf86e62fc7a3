// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The handlers: they record a call, by the kind that calls.txt gives it. Each does the real call
// exactly once and returns its error code. The generated wrappers are their only callers, apart
// from tests. All may be called by any thread that MPI allows to call.
#pragma once

#include <mpi.h>

#include "collector/mpi/arguments.h"
#include "collector/mpi/region.h"
#include "trace/events.h"
#include "trace/raw/raw.h"

namespace culprit::collector::mpi {

/// Records enter and leave only.
int on_plain(const Function& function, RealCall call);

// Messages (messages.cpp).

struct Message {
  int64_t count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  int peer = MPI_PROC_NULL;
  int tag = 0;
  MPI_Comm comm = MPI_COMM_NULL;
};

/// The requested message: its source and tag may be MPI's "any".
struct Wanted {
  int peer = MPI_PROC_NULL;
  int tag = 0;
  MPI_Comm comm = MPI_COMM_NULL;
};

int on_send(const Function& function, const Message& message, RealCall call);
int on_recv(const Function& function, const Wanted& wanted, const Statuses& status, RealCall call);
int on_sendrecv(const Function& function, const Message& message, const Wanted& wanted,
                const Statuses& status, RealCall call);
int on_isend(const Function& function, const Message& message, const Requests& request,
             RealCall call);
int on_irecv(const Function& function, const Message& message, const Requests& request,
             RealCall call);
int on_isendrecv(const Function& function, const Message& sent, const Message& received,
                 const Requests& request, RealCall call);
int on_send_init(const Function& function, const Message& message, const Requests& request,
                 RealCall call);
int on_recv_init(const Function& function, const Message& message, const Requests& request,
                 RealCall call);
int on_probe(const Function& function, const Wanted& wanted, const Statuses& status, RealCall call);
int on_iprobe(const Function& function, MPI_Comm comm, const int* flag, const Statuses& status,
              RealCall call);

/// Matched probes: the message's handle remembers the communicator for the receive that follows,
/// and a number by which that receive names its probe.
int on_mprobe(const Function& function, const Wanted& wanted, const MessagePlace& message,
              const Statuses& status, RealCall call);
int on_improbe(const Function& function, MPI_Comm comm, const int* flag,
               const MessagePlace& message, const Statuses& status, RealCall call);
int on_mrecv(const Function& function, const MessagePlace& message, const Statuses& status,
             RealCall call);
int on_imrecv(const Function& function, const MessagePlace& message, const Requests& request,
              RealCall call);

/// Partitioned communication: `message.count` elements in each of `partitions`.
int on_psend_init(const Function& function, int64_t partitions, const Message& message,
                  const Requests& request, RealCall call);
int on_precv_init(const Function& function, int64_t partitions, const Message& message,
                  const Requests& request, RealCall call);

// Requests that start, complete, go (completion.cpp).

int on_start(const Function& function, const Requests& requests, RealCall call);
int on_wait(const Function& function, const Requests& requests, const Statuses& statuses,
            RealCall call);
int on_waitany(const Function& function, const Requests& requests, const int* index,
               const Statuses& status, RealCall call);
int on_waitsome(const Function& function, const Requests& requests, const int* outcount,
                const int* indices, const Statuses& statuses, RealCall call);
int on_test(const Function& function, const Requests& requests, const int* flag,
            const Statuses& statuses, RealCall call);
int on_testany(const Function& function, const Requests& requests, const int* index,
               const int* flag, const Statuses& status, RealCall call);
int on_testsome(const Function& function, const Requests& requests, const int* outcount,
                const int* indices, const Statuses& statuses, RealCall call);
int on_request_get_status(const Function& function, const Requests& request, const int* flag,
                          const Statuses& status, RealCall call);
int on_request_free(const Function& function, const Requests& request, RealCall call);
/// `partitions` more of a partitioned send are ready. Many threads may call at once.
int on_pready(const Function& function, int64_t partitions, const Requests& request, RealCall call);
/// A test or probe, which programs repeat; a series of fruitless ones becomes one record.
int on_poll(const Function& function, const int* flag, RealCall call);
int on_cancel(const Function& function, const Requests& request, RealCall call);

// Collectives (collectives.cpp).

/// One side of a collective as the caller described it; only the fields that the operation has are
/// set.
struct Side {
  bool in_place = false;
  int64_t count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  Counts counts{};
  Types types{};
};

struct Collective {
  trace::CollectiveOp op = trace::CollectiveOp::other;
  MPI_Comm comm = MPI_COMM_NULL;
  int root = MPI_PROC_NULL;
  bool rooted = false;
  Side send{};
  Side recv{};
};

int on_collective(const Function& function, const Collective& collective, RealCall call);
int on_icollective(const Function& function, const Collective& collective, const Requests& request,
                   RealCall call);
int on_collective_init(const Function& function, const Collective& collective,
                       const Requests& request, RealCall call);

// Communicators (communicators.cpp).

/// For calls in which all of the parent take part.
int on_comm_create(const Function& function, MPI_Comm parent, const CommPlace& created,
                   RealCall call);

/// A communicator of processes that find each other by a value that each of them passes.
struct Joining {
  trace::RawCommLink link = trace::RawCommLink::none;
  MPI_Comm parent = MPI_COMM_NULL;  ///< null: made from groups, or by a single process
  bool rooted = false;
  int root = 0;
  bool tagged = false;
  int tag = 0;  ///< a number that all pass; for `join`: the socket
  Text name{};  ///< the name of a port, or the tag of groups as text
};
int on_comm_join(const Function& function, const Joining& joining, const CommPlace& created,
                 RealCall call);
int on_comm_idup(const Function& function, MPI_Comm parent, const CommPlace& created,
                 const Requests& request, RealCall call);
int on_comm_free(const Function& function, const CommPlace& comm, RealCall call);

// One-sided communication (windows.cpp).

int on_win_create(const Function& function, trace::RawWinFlavor flavor, MPI_Comm comm,
                  const WinPlace& win, RealCall call);
int on_win_free(const Function& function, const WinPlace& win, RealCall call);
int on_win_fence(const Function& function, int assertions, MPI_Win win, RealCall call);

/// An operation as the caller described it; only the fields that it has are set.
struct OneSided {
  trace::RmaOp op = trace::RmaOp::put;
  MPI_Win win = MPI_WIN_NULL;
  int target = MPI_PROC_NULL;
  int64_t sent_count = 0;
  MPI_Datatype sent_type = MPI_DATATYPE_NULL;
  int64_t received_count = 0;
  MPI_Datatype received_type = MPI_DATATYPE_NULL;
  MPI_Op reduction = MPI_OP_NULL;
};

int on_rma(const Function& function, const OneSided& operation, RealCall call);
int on_rma_request(const Function& function, const OneSided& operation, const Requests& request,
                   RealCall call);
int on_win_epoch(const Function& function, trace::RmaEpoch begun, MPI_Group group, int assertions,
                 MPI_Win win, RealCall call);
int on_win_epoch_end(const Function& function, trace::RmaEpoch ended, MPI_Win win, RealCall call);
int on_win_test(const Function& function, MPI_Win win, const int* flag, RealCall call);
int on_win_lock(const Function& function, int lock_type, int target, int assertions, MPI_Win win,
                RealCall call);
int on_win_lock_all(const Function& function, int assertions, MPI_Win win, RealCall call);
int on_win_unlock(const Function& function, int target, MPI_Win win, RealCall call);
int on_win_unlock_all(const Function& function, MPI_Win win, RealCall call);
int on_win_flush(const Function& function, trace::RmaSyncKind kind, int target, MPI_Win win,
                 RealCall call);
int on_win_flush_all(const Function& function, trace::RmaSyncKind kind, MPI_Win win, RealCall call);
int on_win_sync(const Function& function, MPI_Win win, RealCall call);

// Files (files.cpp).

int on_file_open(const Function& function, MPI_Comm comm, const Text& name, int mode,
                 const FilePlace& file, RealCall call);
int on_file_close(const Function& function, const FilePlace& file, RealCall call);
/// For collective calls that move no data.
int on_file_collective(const Function& function, MPI_File file, RealCall call);

/// A read or a write; `flags`: bits of trace::raw_file_op.
struct Transfer {
  uint16_t flags = 0;
  MPI_File file = MPI_FILE_NULL;
  int64_t count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
};

int on_file_transfer(const Function& function, const Transfer& transfer, const Statuses& status,
                     RealCall call);
int on_file_itransfer(const Function& function, const Transfer& transfer, const Requests& request,
                      RealCall call);
/// Split collectives; a file has at most one of them open at a time.
int on_file_begin(const Function& function, const Transfer& transfer, RealCall call);
int on_file_end(const Function& function, const Transfer& transfer, const Statuses& status,
                RealCall call);
int on_file_sync(const Function& function, MPI_File file, RealCall call);

// The process's use of MPI (process.cpp).

int on_init(const Function& function, RealCall call);
int on_finalize(const Function& function, RealCall call);
int on_abort(const Function& function, RealCall call);
/// 0 switches recording off, 1 on; the standard leaves the meaning of other levels to each tool.
void on_pcontrol(int level);

}  // namespace culprit::collector::mpi
