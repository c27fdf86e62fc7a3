// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What stand-ins for the system's blocking calls share: how they find the system's own function,
// and how they say afterwards how long the thread was in it. These functions may be called from the
// program's signal handlers, so the system's own are looked up at load, and only what is called
// before that is looked up when it is called.
#pragma once

#include <dlfcn.h>

#include <atomic>

#include "collector/lifecycle.h"
#include "collector/recorder/recorder.h"
#include "collector/recorder/selection.h"
#include "collector/recorder/system_file.h"
#include "collector/sampling/started.h"

namespace culprit::collector::sampling {

/// Short waits are left to the samples around them: a record costs as much as they do. Ticks of the
/// clock, of whichever kind: between 15 and 50 us.
inline constexpr uint64_t kShortestTicks = 50'000;

/// A function of the system's library, behind ours.
template <class Function>
class Next {
 public:
  /// `version`: the one to take, where there are several and it exists.
  explicit constexpr Next(const char* name, const char* version = nullptr)
      : name_(name), version_(version) {}
  void find() {
    void* found = version_ != nullptr ? dlvsym(RTLD_NEXT, name_, version_) : nullptr;
    if (found == nullptr) found = dlsym(RTLD_NEXT, name_);
    function_.store(reinterpret_cast<Function*>(found), std::memory_order_relaxed);
  }
  Function* get() {
    Function* known = function_.load(std::memory_order_relaxed);
    if (known != nullptr) [[likely]]
      return known;
    find();
    return function_.load(std::memory_order_relaxed);
  }

 private:
  const char* name_;
  const char* version_;
  std::atomic<Function*> function_{nullptr};
};

/// Says of what lies between its begin and its end that the thread slept there.
class Watch {
 public:
  explicit Watch(const char* name = nullptr) : name_(name) {
    if (has_started() && lifecycle::is_watching()) begin_ = now();
  }
  /// Out of line, in the call that the program made: from there the stack is taken.
  [[gnu::always_inline]] void end() {
    if (begin_ == 0) return;
    const KeepErrno keep;
    const uint64_t end = now();
    if (end - begin_ < kShortestTicks || selection::is_off() || !is_same_process()) return;
    ThreadLog* const log = lifecycle::watched_log();
    if (log == nullptr || log->waiting > 0) return;
    const PathId caller = log->current_path();
    const StringId name = name_ != nullptr ? log->name(name_) : StringId::none;
    log->put_blocked(begin_, end, name, caller);
  }

 private:
  const char* name_;
  uint64_t begin_ = 0;
};

}  // namespace culprit::collector::sampling
