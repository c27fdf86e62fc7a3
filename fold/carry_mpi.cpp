// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Calls of MPI, messages and requests. A message is counted when it is sent, or has been received:
// so what is counted and not repeated lies before the preamble.
#include <algorithm>

#include "fold/open_records.h"

namespace culprit::fold {
namespace {

using trace::RawKind;

constexpr uint16_t kRmaWhat = 0xf;

/// Messages of partitioned communication have channels of their own.
template <class Message>
uint64_t pair_of(const Message& message) {
  return message.matching == trace::RawMatching::partitioned ? message.number : 0;
}

/// A fact of the call that the thread is in, with which it ends.
void push_fact(OpenRecords& open, uint64_t before = 0) {
  if (open.call() != kNotOpen) open.push(before);
}

/// `posted`: when; but a matched probe has decided earlier which message it is.
template <class Message>
void add_received(OpenRecords& open, const Message& message, uint64_t posted) {
  if (message.matching == trace::RawMatching::probed) {
    posted = std::max(posted, open.release(kProbes, message.number));
  }
  Count* const channel = open.find_count(kReceived, message.comm, open.words[0], pair_of(message));
  if (channel == nullptr) return;
  ++channel->count;
  channel->posted = std::max(channel->posted, posted);
}

void carry_receive(OpenRecords& open) {
  switch (open.header.kind) {
    case RawKind::mpi_recv: {
      const unsigned call = open.call();
      const uint64_t entered = call != kNotOpen ? open.at(call).header.time : open.header.time;
      return add_received(open, open.as<raw::mpi_recv>(), entered);
    }
    case RawKind::mpi_irecv_post:
      return open.hold(kRequests, open.as<raw::mpi_irecv_post>().request);
    case RawKind::mpi_irecv: {
      const auto message = open.as<raw::mpi_irecv>();
      return add_received(open, message, open.release(kRequests, message.request));
    }
    case RawKind::mpi_probe:
      if (const auto probe = open.as<raw::mpi_probe>(); probe.number != 0) {
        open.hold(kProbes, probe.number);
      }
      return;
    default:
      return;
  }
}

void carry_message(OpenRecords& open) {
  switch (open.header.kind) {
    case RawKind::mpi_send:
      return push_fact(open, open.count(kSent, open.header.arg, open.words[0]));
    case RawKind::mpi_isend: {
      const auto sent = open.as<raw::mpi_isend>();
      const uint64_t before = open.count(kSent, sent.comm, open.words[0], pair_of(sent));
      return open.hold(kRequests, sent.request, before);
    }
    case RawKind::mpi_icoll_post: {
      const auto posted = open.as<raw::mpi_icoll_post>();
      return open.hold(kRequests, posted.request, open.count(kOperations, posted.comm));
    }
    case RawKind::mpi_icoll:
      open.release(kRequests, open.as<raw::mpi_icoll>().request);
      return;
    case RawKind::mpi_isend_done:
    case RawKind::mpi_cancelled:
      open.release(kRequests, open.words[0]);
      return;
    default:
      return carry_receive(open);
  }
}

/// Epochs with many targets do not fit.
void carry_epoch(OpenRecords& open) {
  const auto epoch = open.as<raw::rma_epoch>();
  const auto what = static_cast<trace::RmaEpoch>(epoch.what & kRmaWhat);
  if (what == trace::RmaEpoch::complete) open.release(kAccess, epoch.window);
  if (what == trace::RmaEpoch::wait) open.release(kExposure, epoch.window);
  if (what != trace::RmaEpoch::start && what != trace::RmaEpoch::post) return;
  const bool fits =
      open.header.words <= kCarriedWords && (epoch.what & trace::kRawRmaMoreRanks) == 0;
  if (!fits) return open.lost({.held = 1});
  open.hold(what == trace::RmaEpoch::start ? kAccess : kExposure, epoch.window);
}

void carry_window_lock(OpenRecords& open) {
  const auto lock = open.as<raw::rma_lock>();
  const uint64_t key = uint64_t{lock.window} << 32 | static_cast<uint32_t>(lock.target);
  const auto what = static_cast<trace::RawRmaLock>(lock.what & kRmaWhat);
  if (what != trace::RawRmaLock::release) return open.hold(kWindowLocks, key);
  open.release(kWindowLocks, key);
}

}  // namespace

void carry_mpi(OpenRecords& open) {
  switch (open.header.kind) {
    case RawKind::mpi_enter:
      open.pop_to(open.call());  // one that never returned
      return open.push();
    case RawKind::mpi_leave:
      return open.pop_to(open.find(RawKind::mpi_enter, open.same_flags()));
    case RawKind::mpi_collective:
      open.count(kOperations, open.header.arg);
      return;
    case RawKind::mpi_comm_free:
      return open.drop_counts_of(open.header.arg);
    default:
      return carry_message(open);
  }
}

void carry_window(OpenRecords& open) {
  switch (open.header.kind) {
    case RawKind::rma_op:
      if (const auto moved = open.as<raw::rma_op>(); moved.request != 0) {
        return open.hold(kRequests, moved.request);
      }
      return push_fact(open);
    case RawKind::rma_op_done:
      open.release(kRequests, open.as<raw::rma_op_done>().request);
      return;
    case RawKind::rma_fence:
      open.count(kFences, open.header.arg);
      return;
    case RawKind::rma_lock:
      return carry_window_lock(open);
    case RawKind::rma_epoch:
      return carry_epoch(open);
    default:
      return;
  }
}

void carry_file(OpenRecords& open) {
  switch (open.header.kind) {
    case RawKind::file_op:
      if (const auto begun = open.as<raw::file_op>(); begun.request != 0) {
        return open.hold(kFileRequests, begun.request);
      }
      return push_fact(open);
    case RawKind::file_op_done:
      open.release(kFileRequests, open.as<raw::file_op_done>().request);
      return;
    default:
      return;
  }
}

}  // namespace culprit::fold
