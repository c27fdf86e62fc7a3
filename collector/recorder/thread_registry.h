// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Who has which log. Thread-local state is a plain struct in the initial TLS block: it needs no
// allocation (signal handlers read it) and no destructor (probes are called after the thread's
// destructors ran, and must find "dead", not a corpse).
#pragma once

#include "collector/process/recorder.h"

namespace culprit::collector {

/// Creates and ends logs; the only one that knows where they live.
class Recorder {
 public:
  /// A log that writes to `folder`/events.`number`; nullptr if there is no memory. A log whose file
  /// cannot be made exists, but is broken: it counts what it drops.
  static ThreadLog* create(const char* folder, uint32_t number);
  /// A log of one window in memory, for calibration.
  static ThreadLog* create_scratch();
  /// Gives a log in memory its files.
  static void settle(ThreadLog& log, const char* folder, uint32_t number);
  static void destroy(ThreadLog* log);
  static auto& impl(ThreadLog& log) { return *log.impl_; }

 private:
  struct Storage;
  static Storage* allocate();
};

/// What a probe wants to be told about threads that have a log. Called on the thread itself.
/// `ended` comes to the program's own threads that never had one, too.
struct ThreadHook {
  void (*begun)();  ///< nullptr: nothing is to be done
  void (*ended)();
  bool begun_is_signal_safe = false;
  /// Now and then, and when the process ends, on any thread.
  void (*checkpoint)() = nullptr;
  /// The process is about to end: nothing may use a log of no thread any more.
  void (*process_ends)() = nullptr;
};

namespace registry {

/// At load.
void load();
/// Before the first log that has files: where they go. `folder` must live for ever.
void begin(const char* folder);
/// Who is told of logs.
void add_hook(const ThreadHook& hook);
void call_checkpoint_hooks();
void call_end_hooks();

/// This thread is the program's, not a library's helper: it may have a log before anything but
/// samples and sleeps is seen of it. It runs `function` (0: main).
void begin_own_thread(uintptr_t function);
bool is_own_thread();
/// This thread belongs to the pool of a runtime that ends threads it no longer needs, or (`nested`)
/// was made for one team only. It has done nothing yet that was recorded.
void begin_pool_thread(bool nested);

/// The log of one of the program's own threads, made if need be, unless somebody is inside it.
/// `early`: if it is made, then in memory; it gets its files when it is next asked for without.
/// Async-signal-safe if `early`, or if all hooks are.
ThreadLog* log_of_own_thread(bool early);
bool hooks_are_signal_safe();
/// Gives early logs of threads that have ended their files. At activation.
void settle_parked_logs();
/// In a forked child: forgets what its parent had seen before it was worth recording.
void drop_early_logs();
/// In a forked child that begins anew: the logs of its parent stay as they are, the parent's.
void forget_logs();

/// This thread's log if it exists, with files, and no one is inside it; for signal handlers too.
ThreadLog* existing_log();
/// The same, made at first use.
ThreadLog* log_of_this_thread();

/// A log that belongs to no thread.
ThreadLog* make_extra_log();

/// While this thread sets up the collector, nothing it does is recorded.
bool is_setting_up();
void set_setting_up(bool value);

}  // namespace registry

}  // namespace culprit::collector
