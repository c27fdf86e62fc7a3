// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which thread has which log. Thread-local state is a plain struct in the initial TLS block: it
// needs no allocation (signal handlers read it) and no destructor (probes are called after the
// thread's destructors ran, and must find "dead", not freed memory).
#pragma once

#include "collector/process/recorder.h"

namespace culprit::collector {

/// Creates and ends logs; the only class that knows where they are stored.
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
  /// Once the whole part is over: ends the window at hand, so that what is to be kept of it is.
  static void end_window(ThreadLog& log);
  static auto& impl(ThreadLog& log) { return *log.impl_; }

 private:
  struct Storage;
  static Storage* allocate();
};

/// Functions that a probe wants to be called for threads that have a log. Called on the thread
/// itself. `ended` is also called for the program's own threads that never had one.
struct ThreadHook {
  void (*begun)();  ///< nullptr: there is no function to call
  void (*ended)();
  bool begun_is_signal_safe = false;
  /// Called now and then, and when the process ends, on any thread.
  void (*checkpoint)() = nullptr;
  /// The process is about to end: logs that belong to no thread may not be used any more.
  void (*process_ends)() = nullptr;
};

namespace registry {

/// At load.
void load();
/// To be called before the first log that has files: sets their folder, which must live for ever.
void begin(const char* folder);
/// Adds functions to be called for logs.
void add_hook(const ThreadHook& hook);
void call_checkpoint_hooks();
void call_end_hooks();

/// This thread is the program's, not a library's helper: it may have a log before any event but
/// samples and sleeps. It runs `function` (0: main).
void begin_own_thread(uintptr_t function);
bool is_own_thread();
/// This thread belongs to the pool of a runtime that ends threads it no longer needs, or (`nested`)
/// was made for one team only. None of its events has been recorded yet.
void begin_pool_thread(bool nested);

/// The log of one of the program's own threads, made if need be, unless it is in use. `early`: a
/// new log is made in memory; it gets its files at the next call without `early`. Async-signal-safe
/// if `early`, or if all hooks are.
ThreadLog* log_of_own_thread(bool early);
bool hooks_are_signal_safe();
/// Gives early logs of threads that have ended their files. At activation.
void settle_parked_logs();
/// In a forked child: forgets the parent's samples and sleeps from before it was worth recording.
void drop_early_logs();
/// In a forked child that begins anew: leaves the logs of its parent alone.
void forget_logs();

/// This thread's log if it exists, has files, and is not in use; for signal handlers too.
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
