// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Who has which log. Thread-local state is a plain struct in the initial TLS block: it needs no
// allocation (signal handlers read it) and no destructor (probes are called after the thread's
// destructors ran, and must find "dead", not a corpse).
#pragma once

#include "collector/recorder.h"

namespace culprit::collector {

/// Creates and ends logs; the only one that knows where they live.
class Recorder {
 public:
  /// A log that writes to `folder`/events.`number`; nullptr if there is no memory. A log whose file
  /// cannot be made exists, but is broken: it counts what it drops.
  static ThreadLog* create(const char* folder, uint32_t number);
  /// A log of one window in memory, for calibration.
  static ThreadLog* create_scratch();
  static void destroy(ThreadLog* log);
  static auto& impl(ThreadLog& log) { return *log.impl_; }

 private:
  struct Storage;
  static Storage* allocate();
};

/// What a probe wants to be told about threads that have a log. Called on the thread itself.
struct ThreadHook {
  void (*begun)();
  void (*ended)();
};

namespace registry {

/// Before the first log: where the files go, and who is told. `folder` must live for ever.
bool begin(const char* folder);
void add_hook(const ThreadHook& hook);

/// This thread's log if it exists and no one is inside it; for signal handlers too.
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
