// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One walk over a thread's records with a stack of what is open. A request stays pending until it
// was completed, whoever completes it.
#include "assemble/stuck/thread_end.h"

#include <algorithm>

#include "assemble/openmp/ompt_names.h"
#include "assemble/run/comms/epoch_ranks.h"
#include "assemble/stuck/waiting_calls.h"
#include "trace/mpi_calls.h"

namespace culprit::assemble::stuck {

bool OpenCall::is_probe() const {
  const trace::MpiCall* const known = trace::mpi_call(name);
  return known != nullptr && known->kind == trace::MpiKind::probe;
}

namespace {

using trace::MpiTrait;
using trace::RawAwaits;
using trace::RawGroup;
using trace::RawKind;

class Walk {
 public:
  explicit Walk(const RawLog& log) : thread_(log.thread()) {}

  void see(const RawRecord& record) {
    const RawGroup group = trace::facts_of(record.kind).group;
    end_.trail.see(record);
    if (group == RawGroup::definitions) return define(record);
    end_.last_ticks = std::max(end_.last_ticks, record.ticks);
    switch (group) {
      case RawGroup::mpi:
        return see_mpi(record);
      case RawGroup::one_sided:
        return see_window(record);
      case RawGroup::files:
        return see_file(record);
      case RawGroup::openmp:
      case RawGroup::loops:
      case RawGroup::locks:
      case RawGroup::tasks:
        return see_openmp(record);
      case RawGroup::devices:
      case RawGroup::other:
        return see_other(record);
      default:
        return;
    }
  }

  ThreadEnd take() {
    if (!calls_.empty()) end_.call = std::move(calls_.back());
    if (end_.call.kind == CallKind::none && end_.trail.tests) be_testing();
    if (end_.call.thread_wait && end_.call.thread_wait->timed) be_waiting_again();
    return std::move(end_);
  }

 private:
  /// A call that goes on for as long as the tests do.
  void be_testing() {
    const Repeated& tests = end_.trail.tests;
    end_.call.kind = CallKind::tests;
    end_.call.since = tests.since;
    end_.call.path = tests.path;
    end_.call.name = names_[tests.name];
  }

  /// A wait that begins again each time it is over counts from the first.
  void be_waiting_again() {
    const Repeated& before = end_.trail.sleeps;
    if (!before || names_[before.name] != end_.call.name) return;
    end_.call.again = true;
    end_.call.since = before.since;
    end_.call.path = before.path;
  }

  void define(const RawRecord& record) {
    if (record.kind == RawKind::path_def) {
      const auto path = record.as<raw::path_def>();
      end_.paths[path.path] = {path.parent, path.address};
    } else if (record.kind == RawKind::string_def) {
      const auto text = record.as<raw::string_def>();
      names_[static_cast<uint16_t>(text.string)] =
          text_in(record.rest_of<raw::string_def>(), text.length);
    }
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
        end_.calls_mpi = true;
        return begin_named(record, CallKind::mpi);
      case RawKind::mpi_leave:
        return end_call(CallKind::mpi);
      case RawKind::mpi_awaits:
        if (OpenCall* call = innermost(CallKind::mpi)) {
          const auto awaits = record.as<raw::mpi_awaits>();
          const auto words = record.rest_of<raw::mpi_awaits>();
          call->awaited = Awaited{awaits.what, awaits.object, {words.begin(), words.end()}};
        }
        return;
      case RawKind::mpi_send:
        if (OpenCall* call = innermost(CallKind::mpi); call && !is_buffered(*call)) {
          const auto send = record.as<raw::mpi_send>();
          call->send = MessageSide{send.comm, send.peer, send.tag};
        }
        return;
      case RawKind::mpi_isend:
      case RawKind::mpi_irecv_post:
      case RawKind::mpi_icoll_post:
        return begin_request(record);
      case RawKind::mpi_isend_done:
      case RawKind::mpi_cancelled:
        return end_request(record.as<raw::mpi_isend_done>().request);
      case RawKind::mpi_irecv:
        return end_request(record.as<raw::mpi_irecv>().request);
      case RawKind::mpi_icoll:
        return end_request(record.as<raw::mpi_icoll>().request);
      case RawKind::mpi_part_ready:
        end_.handed_over.push_back(record.as<raw::mpi_part_ready>().request);
        return;
      case RawKind::mpi_collective:
        // In its place the others may be in another.
        if (const OpenCall* call = innermost(CallKind::mpi);
            call && is(*call, MpiTrait::ends_world))
          return;
        ++end_.done[{Channel::Kind::collective, record.as<raw::mpi_collective>().comm}];
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
  static bool is_buffered(const OpenCall& call) { return is(call, MpiTrait::buffered); }

  static bool is(const OpenCall& call, MpiTrait trait) {
    const trace::MpiCall* const known = trace::mpi_call(call.name);
    return known != nullptr && known->is(trait);
  }

  /// mpi_enter, device_enter.
  void begin_named(const RawRecord& record, CallKind kind) {
    const auto entered = record.as<raw::mpi_enter>();
    OpenCall& call = begin_call(record, kind);
    call.path = entered.path;
    call.name = names_[entered.name];
  }

  void begin_request(const RawRecord& record) {
    if (record.kind == RawKind::mpi_isend) {
      const auto send = record.as<raw::mpi_isend>();
      Pending& pending = pend(record, Pending::Kind::send, send.request, send.handle);
      pending.message = {send.comm, send.peer, send.tag};
      pending.in_partitions = send.matching == trace::RawMatching::partitioned;
    } else if (record.kind == RawKind::mpi_irecv_post) {
      const auto receive = record.as<raw::mpi_irecv_post>();
      Pending& pending = pend(record, Pending::Kind::recv, receive.request, receive.handle);
      pending.message = {receive.comm, receive.source, receive.tag};
    } else {
      const auto posted = record.as<raw::mpi_icoll_post>();
      Pending& pending = pend(record, Pending::Kind::collective, posted.request, posted.handle);
      pending.message = {posted.comm, 0, 0};
      pending.op = posted.op;
      pending.place = end_.done[{Channel::Kind::collective, posted.comm}]++;
    }
  }
  Pending& pend(const RawRecord& record, Pending::Kind kind, uint64_t request, uint64_t handle) {
    Pending& pending = end_.pending[request];
    pending.kind = kind;
    pending.ticks = record.ticks;
    pending.request = request;
    pending.handle = handle;
    pending.thread = thread_;
    return pending;
  }
  void end_request(uint64_t request) {
    if (end_.pending.erase(request) == 0) end_.completed.push_back(request);
  }

  // --- Windows and files ---

  void see_window(const RawRecord& record) {
    switch (record.kind) {
      case RawKind::rma_win_def:
        ++end_.done[{Channel::Kind::window_making, record.as<raw::rma_win_def>().comm}];
        return;
      case RawKind::rma_fence:
      case RawKind::rma_win_free:
        ++end_.done[{Channel::Kind::window, record.as<raw::rma_win_free>().window}];
        return;
      case RawKind::rma_lock:
        return see_lock(record.as<raw::rma_lock>());
      case RawKind::rma_epoch:
        if (epoch_.add(record)) see_epoch(record.as<raw::rma_epoch>());
        return;
      default:
        return;
    }
  }

  void see_file(const RawRecord& record) {
    switch (record.kind) {
      case RawKind::file_def:
        ++end_.done[{Channel::Kind::file_opening, record.as<raw::file_def>().comm}];
        return;
      case RawKind::file_close:
        ++end_.done[{Channel::Kind::file, record.as<raw::file_close>().file}];
        return;
      case RawKind::file_op: {
        const auto begun = record.as<raw::file_op>();
        // What is not split is written when the call begins.
        if (is_collective(begun.op) && (begun.op & trace::raw_file_op::kSplit) == 0) {
          if (OpenCall* call = innermost(CallKind::mpi)) {
            call->awaited = Awaited{RawAwaits::file, begun.file, {}};
          }
        }
        return;
      }
      case RawKind::file_op_done:
      case RawKind::file_op_issued: {
        const auto over = record.as<raw::file_op_issued>();
        if (is_collective(over.op)) ++end_.done[{Channel::Kind::file, over.file}];
        return;
      }
      default:
        return;
    }
  }

  static bool is_collective(uint16_t op) { return (op & trace::raw_file_op::kCollective) != 0; }

  void see_lock(const raw::rma_lock& lock) {
    if (lock_of(lock) == trace::RawRmaLock::release) {
      std::erase_if(end_.locks, [&](const RmaHold& held) {
        return held.window == lock.window && held.target == lock.target;
      });
      return;
    }
    const bool exclusive = lock_of(lock) == trace::RawRmaLock::exclusive;
    if (OpenCall* call = innermost(CallKind::mpi)) {
      call->lock = OpenCall::Lock{lock.window, lock.target, exclusive};
    }
    end_.locks.push_back({lock.window, lock.target, exclusive});
  }

  void see_epoch(const raw::rma_epoch& epoch) {
    switch (epoch_of(epoch)) {
      case trace::RmaEpoch::start:
        end_.accessed[epoch.window] = epoch_.ranks();
        return;
      case trace::RmaEpoch::complete:
        end_.accessed.erase(epoch.window);
        return;
      case trace::RmaEpoch::post:
        end_.exposed[epoch.window] = epoch_.ranks();
        return;
      case trace::RmaEpoch::wait:
        end_.exposed.erase(epoch.window);
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
      case RawKind::omp_implicit_begin: {
        const auto joined = record.as<raw::omp_implicit_begin>();
        end_.teams.push_back({joined.region, joined.team_size, joined.index, 0});
        return;
      }
      case RawKind::omp_implicit_end:
      case RawKind::omp_parallel_end: {
        const uint64_t region = record.as<raw::omp_implicit_end>().region;
        std::erase_if(end_.teams, [&](const Membership& one) { return one.region == region; });
        return;
      }
      case RawKind::omp_sync_begin:
        return begin_sync(record);
      case RawKind::omp_wait_begin: {
        const auto wait = record.as<raw::omp_wait_begin>();
        if (sync_class(wait.kind) == SyncClass::taskgroup)
          begin_call(record, CallKind::tasks).code = wait.code;
        return;
      }
      case RawKind::omp_wait_end:
        if (sync_class(record.as<raw::omp_wait_end>().kind) == SyncClass::taskgroup)
          end_call(CallKind::tasks);
        return;
      case RawKind::omp_sync_end:
        return end_sync(record.as<raw::omp_sync_end>());
      case RawKind::omp_task_create:
        end_.tasks[record.as<raw::omp_task_create>().task] =
            end_.tasks_inside.empty() ? 0 : end_.tasks_inside.back();
        return;
      case RawKind::omp_task_switch:
        return switch_task(record);
      case RawKind::omp_task_fulfilled: {
        const auto over = record.as<raw::omp_task_fulfilled>();
        if (ends_without_being_left(over.status)) end_task(over.task);
        return;
      }
      default:
        return see_mutex(record);
    }
  }

  void see_mutex(const RawRecord& record) {
    switch (record.kind) {
      case RawKind::omp_mutex_acquire: {
        const auto wanted = record.as<raw::omp_mutex_acquire>();
        OpenCall& call = begin_call(record, CallKind::mutex);
        call.object = wanted.mutex;
        call.code = wanted.code;
        return;
      }
      case RawKind::omp_mutex_acquired:
        end_.holds.insert(record.as<raw::omp_mutex_acquired>().mutex);
        return;
      case RawKind::omp_mutex_released:
        end_.holds.erase(record.as<raw::omp_mutex_released>().mutex);
        return;
      default:
        return;
    }
  }

  /// A taskgroup is a construct; only its end waits (omp_wait_begin).
  void begin_sync(const RawRecord& record) {
    const auto begun = record.as<raw::omp_sync_begin>();
    const SyncClass sync = sync_class(begun.kind);
    if (sync != SyncClass::barrier && sync != SyncClass::taskwait) return;
    OpenCall& call =
        begin_call(record, sync == SyncClass::barrier ? CallKind::barrier : CallKind::tasks);
    call.code = begun.code;
    call.region = begun.region;
    if (sync != SyncClass::barrier) return;
    for (Membership& one : end_.teams) {
      if (one.region == begun.region) ++one.barriers;
    }
  }
  void end_sync(const raw::omp_sync_end& ended) {
    const SyncClass sync = sync_class(ended.kind);
    if (sync == SyncClass::barrier) end_call(CallKind::barrier);
    if (sync == SyncClass::taskwait) end_call(CallKind::tasks);
  }

  void end_task(uint64_t task) {
    if (end_.tasks.erase(task) == 0) end_.tasks_done.push_back(task);
  }

  /// A thread that runs a task inside a barrier does not wait.
  void switch_task(const RawRecord& record) {
    const auto [status, running, left] = record.as<raw::omp_task_switch>();
    const auto entered = std::find_if(calls_.begin(), calls_.end(), [&](const OpenCall& call) {
      return call.kind == CallKind::none && call.object == left;
    });
    if (left != 0 && entered != calls_.end()) calls_.erase(entered, calls_.end());
    std::erase(end_.tasks_inside, left);
    if (left != 0 && is_task_end(status)) end_task(left);
    if (left != 0 && is_task_left(status) && !is_task_end(status)) end_.detached.push_back(left);
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
      case RawKind::thread_awaits:
        if (!end_.ended) begin_wait(record);
        return;
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

  void begin_wait(const RawRecord& record) {
    const auto awaits = record.as<raw::thread_awaits>();
    OpenCall& call = begin_call(record, CallKind::thread);
    call.name = names_[awaits.name];
    call.code = awaits.code;
    call.object = awaits.object;
    ThreadWait wait;
    wait.kind = thread_wait_kind(call.name).value_or(ThreadWait::Kind::word);
    wait.timed = call.name.find("timed") != std::string::npos ||
                 call.name.find("clock") != std::string::npos;
    wait.shared = awaits.owner == ~uint32_t{0};
    wait.owner = wait.shared ? 0 : awaits.owner;
    call.thread_wait = wait;
  }

  ThreadEnd end_;
  std::vector<OpenCall> calls_;  ///< open ones, outermost first
  uint32_t thread_;
  std::unordered_map<uint16_t, std::string> names_;
  EpochRanks epoch_;
};

}  // namespace

std::vector<uint64_t> ThreadEnd::addresses() const {
  return call.stack.empty() ? addresses(call.path) : call.stack;
}

std::vector<uint64_t> ThreadEnd::addresses(uint32_t path) const {
  std::vector<uint64_t> found;
  for (uint32_t id = path; id != 0 && found.size() < paths.size() + 1;) {
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
