// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One-sided communication (handlers.h). An operation and a lock's request are recorded when they
// are posted, all calls that synchronise when they are over. The reader derives from the records
// which operations a synchronisation completes, so nothing is kept here. MPI_PROC_NULL exchanges
// nothing and leaves no record, be it in an operation, a lock or a flush.

#include <atomic>
#include <optional>
#include <utility>

#include "collector/mpi/facts.h"
#include "collector/mpi/handlers.h"
#include "collector/mpi/objects.h"
#include "collector/mpi/requests.h"

namespace culprit::collector::mpi {
namespace {

using trace::RmaAssertions;
using trace::RmaEpoch;
using trace::RmaOp;

std::atomic<uint32_t> next_window{1};

RmaAssertions assertions_of(int given) {
  const struct {
    int mpis;
    RmaAssertions ours;
  } all[] = {{MPI_MODE_NOCHECK, RmaAssertions::no_check},
             {MPI_MODE_NOSTORE, RmaAssertions::no_store},
             {MPI_MODE_NOPUT, RmaAssertions::no_put},
             {MPI_MODE_NOPRECEDE, RmaAssertions::no_precede},
             {MPI_MODE_NOSUCCEED, RmaAssertions::no_succeed}};
  RmaAssertions set = RmaAssertions::none;
  for (const auto& one : all) {
    if (given & one.mpis) set = set | one.ours;
  }
  return set;
}

/// The begun epoch or lock and its assertions in one value, as rma_epoch and rma_lock have it.
template <class Begun>
uint16_t with_assertions(Begun begun, int assertions) {
  return static_cast<uint16_t>(static_cast<unsigned>(begun) |
                               static_cast<unsigned>(assertions_of(assertions))
                                   << trace::kRawRmaAssertionsShift);
}

/// The target's rank as records have it; none for MPI_PROC_NULL.
using Target = std::optional<uint64_t>;

Target target_of(int rank) {
  if (rank == MPI_PROC_NULL) return std::nullopt;
  return static_cast<uint32_t>(rank);
}

/// Writes the ranks that the members of `group` have in the window, over as many records as needed.
void put_epoch(const CallRegion& region, uint16_t what, uint32_t window, MPI_Group group,
               MPI_Win win) {
  constexpr int kChunk = 64;
  int ranks[kChunk], translated[kChunk], size = 0;
  MPI_Group members = MPI_GROUP_NULL;
  if (PMPI_Group_size(group, &size) != MPI_SUCCESS) size = 0;
  if (PMPI_Win_get_group(win, &members) != MPI_SUCCESS) size = 0;
  int start = 0;
  do {
    const int n = size - start < kChunk ? size - start : kChunk;
    uint64_t words[kChunk / 2] = {};
    for (int i = 0; i < n; ++i) ranks[i] = start + i;
    if (n > 0) PMPI_Group_translate_ranks(group, n, ranks, members, translated);
    for (int i = 0; i < n; ++i) {
      words[i / 2] |= static_cast<uint64_t>(static_cast<uint32_t>(translated[i])) << i % 2 * 32;
    }
    start += n;
    const uint16_t more = start < size ? trace::kRawRmaMoreRanks : 0;
    const raw::rma_epoch epoch{.window = window,
                               .what = static_cast<uint16_t>(what | more),
                               .ranks = static_cast<uint64_t>(n)};
    region.log().put(region.end(), epoch, words, static_cast<unsigned>((n + 1) / 2));
  } while (start < size);
  if (members != MPI_GROUP_NULL) PMPI_Group_free(&members);
}

/// MPI_Win_start may return only when the targets have posted the window.
void await_targets(CallRegion& region, uint32_t window, MPI_Group group, MPI_Win win) {
  constexpr int kMost = static_cast<int>(trace::kRawAwaitedAtMost);
  int ranks[kMost], translated[kMost], size = 0;
  MPI_Group members = MPI_GROUP_NULL;
  if (PMPI_Group_size(group, &size) != MPI_SUCCESS || size > kMost) return;
  if (PMPI_Win_get_group(win, &members) != MPI_SUCCESS) return;
  for (int i = 0; i < size; ++i) ranks[i] = i;
  PMPI_Group_translate_ranks(group, size, ranks, members, translated);
  uint64_t words[kMost];
  for (int i = 0; i < size; ++i) words[i] = static_cast<uint32_t>(translated[i]);
  region.awaits(trace::RawAwaits::epoch_start, window, words, static_cast<unsigned>(size));
  PMPI_Group_free(&members);
}

void put_epoch_end(const CallRegion& region, RmaEpoch epoch, uint32_t window) {
  region.log().put(region.end(),
                   raw::rma_epoch{.window = window, .what = static_cast<uint16_t>(epoch)});
}

struct Bytes {
  uint64_t sent = 0;
  uint64_t received = 0;
};

/// A fetch or a comparison has no counts: it moves one element, and a comparison sends two.
Bytes bytes_in(const OneSided& operation) {
  const bool counted = operation.received_type != MPI_DATATYPE_NULL;
  Bytes bytes;
  switch (operation.op) {
    case RmaOp::compare_and_swap:
      return {bytes_of(2, operation.sent_type), bytes_of(1, operation.sent_type)};
    case RmaOp::fetch_and_accumulate:
      bytes.sent = bytes_of(counted ? operation.sent_count : 1, operation.sent_type);
      bytes.received =
          counted ? bytes_of(operation.received_count, operation.received_type) : bytes.sent;
      if (operation.reduction == MPI_NO_OP) bytes.sent = 0;
      return bytes;
    default:
      return {bytes_of(operation.sent_count, operation.sent_type),
              bytes_of(operation.received_count, operation.received_type)};
  }
}

/// `request`: 0 if the operation has none.
void put_operation(const CallRegion& region, uint32_t window, const OneSided& operation,
                   uint64_t request) {
  const Bytes bytes = bytes_in(operation);
  region.log().put(region.begin(), raw::rma_op{.window = window,
                                               .op = operation.op,
                                               .target = static_cast<uint32_t>(operation.target),
                                               .sent = bytes.sent,
                                               .received = bytes.received,
                                               .request = request});
}

void put_lock(const CallRegion& region, uint64_t time, trace::RawRmaLock lock, int assertions,
              uint32_t window, uint64_t target) {
  region.log().put(
      time,
      raw::rma_lock{.window = window, .what = with_assertions(lock, assertions), .target = target});
}

int lock(const Function& function, trace::RawRmaLock kind, Target target, int assertions,
         MPI_Win win, RealCall call) {
  CallRegion region(function);
  const Object window = window_of(region, win);
  if (window && target) {
    put_lock(region, region.begin(), kind, assertions, window.number(), *target);
  }
  return region.run(call);
}

int unlock(const Function& function, Target target, MPI_Win win, RealCall call) {
  CallRegion region(function);
  const Object window = window_of(region, win);
  const int rc = region.run(call);
  if (window && target && rc == MPI_SUCCESS) {
    put_lock(region, region.end(), trace::RawRmaLock::release, 0, window.number(), *target);
  }
  return rc;
}

int flush(const Function& function, trace::RmaSyncKind kind, Target target, MPI_Win win,
          RealCall call) {
  CallRegion region(function);
  const Object window = window_of(region, win);
  const int rc = region.run(call);
  if (window && target && rc == MPI_SUCCESS) {
    region.log().put(region.end(),
                     raw::rma_sync{.window = window.number(), .kind = kind, .target = *target});
  }
  return rc;
}

}  // namespace

void count_unknown_object() {
  trace::RawProcess* record = process();
  if (!record) return;
  std::atomic_ref<uint64_t>(record->skipped_callbacks).fetch_add(1, std::memory_order_relaxed);
}

int on_win_create(const Function& function, trace::RawWinFlavor flavor, MPI_Comm handle,
                  const WinPlace& win, RealCall call) {
  CallRegion region(function);
  Comm comm;
  if (region) {
    comm = comm_of(region.log(), region.begin(), handle);
    region.awaits(trace::RawAwaits::window_making, comm.id);
  }
  const int rc = region.run(call);
  if (!region || rc != MPI_SUCCESS) return rc;
  comm.object = next_window.fetch_add(1, std::memory_order_relaxed);
  remember_handle(HandleKind::window, key_of(win.get()), comm);
  region.log().put(region.end(),
                   raw::rma_win_def{.window = comm.object, .flavor = flavor, .comm = comm.id});
  return rc;
}

int on_win_free(const Function& function, const WinPlace& place, RealCall call) {
  CallRegion region(function);
  const Object window = window_of(region, place.get());
  window.end();
  if (window) region.awaits(trace::RawAwaits::window, window.number());
  const int rc = region.run(call);
  if (!window) return rc;
  if (rc == MPI_SUCCESS) {
    region.log().put(region.end(), raw::rma_win_free{.window = window.number()});
  } else {
    window.give_back();
  }
  return rc;
}

int on_win_fence(const Function& function, int assertions, MPI_Win win, RealCall call) {
  CallRegion region(function);
  const Object window = window_of(region, win);
  if (window) region.awaits(trace::RawAwaits::window, window.number());
  const int rc = region.run(call);
  if (window && rc == MPI_SUCCESS) {
    region.log().put(region.end(), raw::rma_fence{.window = window.number(),
                                                  .assertions = assertions_of(assertions)});
  }
  return rc;
}

int on_rma(const Function& function, const OneSided& operation, RealCall call) {
  CallRegion region(function);
  const Object window = window_of(region, operation.win);
  if (window && operation.target != MPI_PROC_NULL) {
    put_operation(region, window.number(), operation, 0);
  }
  return region.run(call);
}

int on_rma_request(const Function& function, const OneSided& operation, const Requests& place,
                   RealCall call) {
  CallRegion region(function);
  const Object window = window_of(region, operation.win);
  Request request;
  if (window && operation.target != MPI_PROC_NULL) {
    request.kind = RequestKind::window;
    request.id = new_request_id();
    request.object = window.number();
    put_operation(region, window.number(), operation, request.id);
  }
  const int rc = region.run(call);
  if (region && rc == MPI_SUCCESS) add_request(place[0], place.place(0), request);
  return rc;
}

int on_win_epoch(const Function& function, RmaEpoch begun, MPI_Group group, int assertions,
                 MPI_Win win, RealCall call) {
  CallRegion region(function);
  const Object window = window_of(region, win);
  if (window && begun == RmaEpoch::start) await_targets(region, window.number(), group, win);
  const int rc = region.run(call);
  if (window && rc == MPI_SUCCESS) {
    put_epoch(region, with_assertions(begun, assertions), window.number(), group, win);
  }
  return rc;
}

int on_win_epoch_end(const Function& function, RmaEpoch ended, MPI_Win win, RealCall call) {
  CallRegion region(function);
  const Object window = window_of(region, win);
  if (window) {
    region.awaits(
        ended == RmaEpoch::wait ? trace::RawAwaits::epoch_wait : trace::RawAwaits::epoch_start,
        window.number());
  }
  const int rc = region.run(call);
  if (window && rc == MPI_SUCCESS) put_epoch_end(region, ended, window.number());
  return rc;
}

int on_win_test(const Function& function, MPI_Win win, const int* flag, RealCall call) {
  Poll poll(function);
  const int rc = poll.run(call);
  if (rc == MPI_SUCCESS && !*flag) {
    poll.fruitless();
    return rc;
  }
  const CallRegion region = poll.region();
  const Object window = window_of(region, win);
  if (window && rc == MPI_SUCCESS) put_epoch_end(region, RmaEpoch::wait, window.number());
  return rc;
}

int on_win_lock(const Function& function, int lock_type, int target, int assertions, MPI_Win win,
                RealCall call) {
  const auto kind =
      lock_type == MPI_LOCK_EXCLUSIVE ? trace::RawRmaLock::exclusive : trace::RawRmaLock::shared;
  return lock(function, kind, target_of(target), assertions, win, call);
}

int on_win_lock_all(const Function& function, int assertions, MPI_Win win, RealCall call) {
  return lock(function, trace::RawRmaLock::shared, trace::kRawAllTargets, assertions, win, call);
}

int on_win_unlock(const Function& function, int target, MPI_Win win, RealCall call) {
  return unlock(function, target_of(target), win, call);
}

int on_win_unlock_all(const Function& function, MPI_Win win, RealCall call) {
  return unlock(function, trace::kRawAllTargets, win, call);
}

int on_win_flush(const Function& function, trace::RmaSyncKind kind, int target, MPI_Win win,
                 RealCall call) {
  return flush(function, kind, target_of(target), win, call);
}

int on_win_flush_all(const Function& function, trace::RmaSyncKind kind, MPI_Win win,
                     RealCall call) {
  return flush(function, kind, trace::kRawAllTargets, win, call);
}

/// A loop that waits for shared memory to change may call it millions of times a second, and all
/// but the first count as fruitless tests.
int on_win_sync(const Function& function, MPI_Win win, RealCall call) {
  constexpr uint64_t kSoonTicks = 50'000;  // between 15 and 50 us
  static constinit thread_local uint64_t last_end __attribute__((tls_model("initial-exec"))) = 0;
  const uint64_t begin = now();
  const bool again = begin - std::exchange(last_end, begin) <= kSoonTicks;
  if (!again) return flush(function, trace::RmaSyncKind::memory, trace::kRawAllTargets, win, call);
  Poll poll(function);
  const int rc = poll.run(call);
  poll.fruitless();
  return rc;
}

}  // namespace culprit::collector::mpi
