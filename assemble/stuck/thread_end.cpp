// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/stuck/thread_end.h"

#include <algorithm>
#include <cstring>

#include "assemble/openmp/ompt_names.h"
#include "assemble/records/epoch_ranks.h"

namespace culprit::assemble::stuck {
namespace {

using trace::RawAwaits;
using trace::RawKind;

MessageSide side(const RawRecord& record, uint64_t peer_and_tag) {
  return {record.arg, static_cast<int32_t>(peer_and_tag), static_cast<int32_t>(peer_and_tag >> 32)};
}

class Walk {
 public:
  explicit Walk(const RawLog& log) : thread_(log.thread()) {}

  void see(const RawRecord& record) {
    if (record.kind == RawKind::path_def) {
      end_.paths[record.arg] = {static_cast<uint32_t>(record.w[0]), record.w[1]};
      return;
    }
    if (record.kind == RawKind::string_def) return define_name(record);
    end_.last_ticks = std::max(end_.last_ticks, record.ticks);
    if (record.kind < RawKind::omp_thread_begin) return see_mpi(record);
    if (record.kind < RawKind::sample) return see_openmp(record);
    if (record.kind >= RawKind::rma_win_def && record.kind < RawKind::thread_begun) {
      return see_object(record);
    }
    see_other(record);
  }

  ThreadEnd take() {
    if (!calls_.empty()) end_.call = std::move(calls_.back());
    return std::move(end_);
  }

 private:
  void define_name(const RawRecord& record) {
    const size_t length = std::min<size_t>(record.flags, size_t{record.words} * 8);
    names_[static_cast<uint16_t>(record.arg)].assign(reinterpret_cast<const char*>(record.w),
                                                     length);
  }

  OpenCall& begin_call(const RawRecord& record, CallKind kind) {
    OpenCall& call = calls_.emplace_back();
    call.kind = kind;
    call.since = record.ticks;
    return call;
  }
  /// Ends the innermost call of the kind, and whatever is still open inside.
  void end_call(CallKind kind) {
    const auto at = std::find_if(calls_.rbegin(), calls_.rend(),
                                 [&](const OpenCall& call) { return call.kind == kind; });
    if (at != calls_.rend()) calls_.erase(std::prev(at.base()), calls_.end());
  }
  /// The innermost call, if it is of the kind.
  OpenCall* innermost(CallKind kind) {
    return !calls_.empty() && calls_.back().kind == kind ? &calls_.back() : nullptr;
  }

  // --- MPI ---

  void see_mpi(const RawRecord& record) {
    switch (record.kind) {
      case RawKind::mpi_enter:
        return begin_named(record, CallKind::mpi);
      case RawKind::mpi_leave:
        return end_call(CallKind::mpi);
      case RawKind::mpi_awaits:
        if (OpenCall* call = innermost(CallKind::mpi)) {
          call->awaited = Awaited{static_cast<RawAwaits>(record.flags),
                                  record.arg,
                                  {record.w, record.w + record.words}};
        }
        return;
      case RawKind::mpi_send:
        if (OpenCall* call = innermost(CallKind::mpi); call && !is_buffered(*call)) {
          call->send = side(record, record.w[0]);
        }
        return;
      case RawKind::mpi_isend:
        return begin_request(record, Pending::Kind::send, record.as<raw::mpi_isend>().request,
                             record.as<raw::mpi_isend>().handle, side(record, record.w[0]));
      case RawKind::mpi_irecv_post:
        return begin_request(record, Pending::Kind::recv, record.w[0], record.w[2],
                             side(record, record.w[1]));
      case RawKind::mpi_icoll_post:
        begin_request(record, Pending::Kind::collective, record.w[0], record.w[1],
                      {record.arg, 0, 0});
        end_.pending[record.w[0]].op = static_cast<trace::CollectiveOp>(record.flags);
        end_.pending[record.w[0]].place = end_.done[{Channel::Kind::collective, record.arg}]++;
        return;
      case RawKind::mpi_isend_done:
      case RawKind::mpi_cancelled:
        return end_request(record.w[0]);
      case RawKind::mpi_irecv:
        return end_request(record.w[2]);
      case RawKind::mpi_icoll:
        return end_request(record.w[3]);
      case RawKind::mpi_collective:
        // In its place the others may be in another.
        if (const OpenCall* call = innermost(CallKind::mpi); call && call->name == "MPI_Finalize")
          return;
        ++end_.done[{Channel::Kind::collective, record.arg}];
        return;
      case RawKind::mpi_init_done:
        end_.initialized = record.ticks;
        return;
      case RawKind::mpi_finalized:
        end_.finalized = record.ticks;
        return;
      default:
        return;
    }
  }

  /// It never waits for the receiver, so that who died in it was ended by an error.
  static bool is_buffered(const OpenCall& call) { return call.name == "MPI_Bsend"; }

  void begin_named(const RawRecord& record, CallKind kind) {
    OpenCall& call = begin_call(record, kind);
    call.path = record.arg;
    call.name = names_[record.flags];
    end_.calls_mpi = end_.calls_mpi || kind == CallKind::mpi;
  }

  void begin_request(const RawRecord& record, Pending::Kind kind, uint64_t request, uint64_t handle,
                     MessageSide message) {
    Pending& pending = end_.pending[request];
    pending.kind = kind;
    pending.ticks = record.ticks;
    pending.request = request;
    pending.handle = handle;
    pending.message = message;
    pending.thread = thread_;
  }
  void end_request(uint64_t request) {
    if (end_.pending.erase(request) == 0) end_.completed.push_back(request);
  }

  // --- Windows and files ---

  void see_object(const RawRecord& record) {
    using Kind = Channel::Kind;
    switch (record.kind) {
      case RawKind::rma_win_def:
        ++end_.done[{Kind::window_making, static_cast<uint32_t>(record.w[0])}];
        return;
      case RawKind::file_def:
        ++end_.done[{Kind::file_opening, static_cast<uint32_t>(record.w[0])}];
        return;
      case RawKind::rma_fence:
      case RawKind::rma_win_free:
        ++end_.done[{Kind::window, record.arg}];
        return;
      case RawKind::file_close:
        ++end_.done[{Kind::file, record.arg}];
        return;
      case RawKind::file_op:
        // What is not split is written when the call begins.
        if (is_collective(record) && (record.flags & trace::raw_file_op::kSplit) == 0) {
          if (OpenCall* call = innermost(CallKind::mpi)) {
            call->awaited = Awaited{RawAwaits::file, record.arg, {}};
          }
        }
        return;
      case RawKind::file_op_done:
      case RawKind::file_op_issued:
        if (is_collective(record)) ++end_.done[{Kind::file, record.arg}];
        return;
      case RawKind::rma_lock:
        return see_lock(record);
      case RawKind::rma_epoch:
        if (epoch_.add(record)) see_epoch(record);
        return;
      default:
        return;
    }
  }

  static bool is_collective(const RawRecord& record) {
    return (record.flags & trace::raw_file_op::kCollective) != 0;
  }

  void see_lock(const RawRecord& record) {
    const auto lock =
        static_cast<trace::RawRmaLock>(record.flags & ((1u << trace::kRawRmaAssertionsShift) - 1));
    if (lock == trace::RawRmaLock::release) {
      std::erase_if(end_.locks, [&](const RmaHold& held) {
        return held.window == record.arg && held.target == record.w[0];
      });
      return;
    }
    const bool exclusive = lock == trace::RawRmaLock::exclusive;
    if (OpenCall* call = innermost(CallKind::mpi)) {
      call->lock = OpenCall::Lock{record.arg, record.w[0], exclusive};
    }
    end_.locks.push_back({record.arg, record.w[0], exclusive});
  }

  void see_epoch(const RawRecord& record) {
    switch (static_cast<trace::RmaEpoch>(record.flags & 0xf)) {
      case trace::RmaEpoch::start:
        end_.accessed[record.arg] = epoch_.ranks();
        return;
      case trace::RmaEpoch::complete:
        end_.accessed.erase(record.arg);
        return;
      case trace::RmaEpoch::post:
        end_.exposed[record.arg] = epoch_.ranks();
        return;
      case trace::RmaEpoch::wait:
        end_.exposed.erase(record.arg);
        return;
      case trace::RmaEpoch::other:
        return;
    }
  }

  // --- OpenMP ---

  void see_openmp(const RawRecord& record) {
    // A failed test of a lock has no end of its own.
    if (innermost(CallKind::mutex)) calls_.pop_back();
    switch (record.kind) {
      case RawKind::omp_implicit_begin:
        end_.teams.push_back({record.w[0], static_cast<uint32_t>(record.w[1]),
                              static_cast<uint32_t>(record.w[1] >> 32), 0});
        return;
      case RawKind::omp_implicit_end:
      case RawKind::omp_parallel_end:
        std::erase_if(end_.teams, [&](const Membership& one) { return one.region == record.w[0]; });
        return;
      case RawKind::omp_sync_begin:
        return begin_sync(record);
      case RawKind::omp_wait_begin:
        if (sync_class(record.flags) == SyncClass::taskgroup)
          begin_call(record, CallKind::tasks).code = record.w[0];
        return;
      case RawKind::omp_wait_end:
        if (sync_class(record.flags) == SyncClass::taskgroup) end_call(CallKind::tasks);
        return;
      case RawKind::omp_sync_end:
        return end_sync(record);
      case RawKind::omp_mutex_acquire: {
        OpenCall& call = begin_call(record, CallKind::mutex);
        call.object = record.w[0];
        call.code = record.w[1];
        return;
      }
      case RawKind::omp_mutex_acquired:
        end_.holds.insert(record.w[0]);
        return;
      case RawKind::omp_mutex_released:
        end_.holds.erase(record.w[0]);
        return;
      case RawKind::omp_task_create:
        end_.tasks[record.w[0]] = end_.tasks_inside.empty() ? 0 : end_.tasks_inside.back();
        return;
      case RawKind::omp_task_switch:
        return switch_task(record);
      default:
        return;
    }
  }

  /// A taskgroup is a construct; only its end waits (omp_wait_begin).
  void begin_sync(const RawRecord& record) {
    const SyncClass sync = sync_class(record.flags);
    if (sync != SyncClass::barrier && sync != SyncClass::taskwait) return;
    OpenCall& call =
        begin_call(record, sync == SyncClass::barrier ? CallKind::barrier : CallKind::tasks);
    call.code = record.w[0];
    call.region = record.w[1];
    if (sync != SyncClass::barrier) return;
    for (Membership& one : end_.teams) {
      if (one.region == record.w[1]) ++one.barriers;
    }
  }
  void end_sync(const RawRecord& record) {
    const SyncClass sync = sync_class(record.flags);
    if (sync == SyncClass::barrier) end_call(CallKind::barrier);
    if (sync == SyncClass::taskwait) end_call(CallKind::tasks);
  }

  /// A thread that runs a task inside a barrier does not wait.
  void switch_task(const RawRecord& record) {
    const uint64_t left = record.w[1], running = record.w[0];
    const auto entered = std::find_if(calls_.begin(), calls_.end(), [&](const OpenCall& call) {
      return call.kind == CallKind::none && call.object == left;
    });
    if (left != 0 && entered != calls_.end()) calls_.erase(entered, calls_.end());
    std::erase(end_.tasks_inside, left);
    if (left != 0 && is_task_end(record.flags) && end_.tasks.erase(left) == 0) {
      end_.tasks_done.push_back(left);
    }
    if (running == 0) return;
    std::erase(end_.tasks_inside, running);
    end_.tasks_inside.push_back(running);
    begin_call(record, CallKind::none).object = running;
  }

  // --- Devices, the thread itself ---

  void see_other(const RawRecord& record) {
    switch (record.kind) {
      case RawKind::device_enter:
        return begin_named(record, CallKind::device);
      case RawKind::device_leave:
        return end_call(CallKind::device);
      case RawKind::thread_begun:  // another one goes on with the log
        end_.ended = false;
        return;
      case RawKind::thread_ended:
        calls_.clear();
        end_.ended = true;
        return;
      case RawKind::process_end:
        end_.ended = true;
        return;
      default:
        return;
    }
  }

  ThreadEnd end_;
  std::vector<OpenCall> calls_;  ///< open ones, outermost first
  uint32_t thread_;
  std::unordered_map<uint16_t, std::string> names_;
  EpochRanks epoch_;
};

}  // namespace

std::vector<uint64_t> ThreadEnd::addresses() const {
  std::vector<uint64_t> found;
  for (uint32_t id = call.path; id != 0 && found.size() < paths.size() + 1;) {
    const auto at = paths.find(id);
    if (at == paths.end()) break;
    found.push_back(at->second.second);
    id = at->second.first;
  }
  return found;
}

ThreadEnd end_of(const RawLog& log) {
  Walk walk(log);
  auto cursor = log.cursor();
  for (RawRecord record; cursor.next(record);) walk.see(record);
  return walk.take();
}

}  // namespace culprit::assemble::stuck
