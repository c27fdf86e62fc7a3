// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Waits of MPI, OpenMP and device libraries among their own threads are not recorded: they would be
// no real waiting (workers without work), or are known better from other records.
#include "collector/sampling/thread_wait.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "collector/process/selection.h"
#include "collector/recorder/thread_registry.h"
#include "collector/sampling/no_cancellation.h"
#include "trace/objects.h"

namespace culprit::collector::sampling {

constinit std::atomic<uint32_t> g_waiters[kCounters];
constinit thread_local Yields t_yields __attribute__((tls_model("initial-exec"))) = {};

namespace {

/// A thread may do nothing but wait for locks, so that its first wait makes its log: without taking
/// any lock, as from a signal handler.
ThreadLog* log_for(Kind kind) {
  return kind == Kind::lock ? lifecycle::watched_log_in_signal() : lifecycle::watched_log();
}

/// No log is made for a wait that may be short. But the first thread may wait for all others before
/// it does anything else, and the program may be stopped while it does.
ThreadLog* log_at_begin(Kind kind) {
  ThreadLog* const log = registry::existing_log();
  if (log != nullptr || kind == Kind::lock || syscall(SYS_gettid) != getpid()) return log;
  const NoCancellation stays;
  return lifecycle::watched_log();
}

/// The last wait of this thread that ended by its timeout. If it soon waits for the same object
/// from the same place, that counts as the same wait: a loop that now and then checks something
/// else.
struct Slice {
  ThreadLog* log;
  const char* name;
  uint64_t object, begin, end;
  PathId caller;
  bool yielded;  ///< it yielded its core instead of sleeping: that is another call of the same
                 ///< function
};
constinit thread_local Slice t_slice __attribute__((tls_model("initial-exec"))) = {};

}  // namespace

void say_wake(uint64_t object, Kind kind) {
  const KeepErrno keep;
  if (!lifecycle::is_watching() || selection::is_off() || !is_same_process()) return;
  const NoCancellation stays;
  ThreadLog* const log = log_for(kind);
  if (log == nullptr || log->waiting > 0) return;
  const PathId caller = log->current_path();
  log->put(now(), raw::woke{.path = static_cast<uint32_t>(caller), .object = object});
}

void Wait::take_yields() {
  if (t_yields.object != object_) t_yields.object = 0;
  if (begin_ == 0 || !t_yields.are_fresh_at(begin_)) return;
  begin_ = t_yields.begin;
  t_yields.end = 0;
  t_yields.object = object_;
}

void Wait::say_waiting(uintptr_t caller, uint32_t owner) {
  const KeepErrno keep;
  if (selection::is_off() || !is_same_memory()) return;
  ThreadLog* const log = log_at_begin(kind_);
  if (log == nullptr || log->waiting > 0) return;
  const StringId name = log->name(name_);
  log->open(
      RawSlot::wait, begin_,
      raw::thread_awaits{
          .owner = owner, .name = static_cast<uint16_t>(name), .object = object_, .code = caller});
  told_ = log;
}

bool Wait::goes_on_from_last() const {
  return t_slice.object == object_ && is_next_slice(t_slice.begin, t_slice.end, begin_);
}

void Wait::say(uintptr_t cfa, uint64_t end, bool goes_on, bool time_was_up) const {
  if (selection::is_off() || !is_same_process()) return;
  if (!is_called_by_program(cfa)) return;
  const NoCancellation stays;
  ThreadLog* const log = log_for(trace::is_of_node(object_) ? Kind::other : kind_);
  if (log == nullptr || !is_to_be_recorded(*log, cfa)) return;
  const PathId caller = log->current_path();
  Slice& last = t_slice;
  goes_on = goes_on && last.log == log && last.name == name_ &&
            (last.caller == caller || last.yielded) && log->prolong_blocked(last.end, end);
  if (!goes_on) log->put_blocked(begin_, end, log->name(name_), caller, object_);
  last = time_was_up ? Slice{log, name_, object_, begin_, end, caller, yields_} : Slice{};
}

}  // namespace culprit::collector::sampling
