// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Functions of the system's library in which a thread waits for others, as programs call them.
#pragma once

#include <optional>
#include <string_view>

#include "assemble/stuck/thread_wait.h"

namespace culprit::assemble::stuck {

struct WaitingCall {
  std::string_view name;
  ThreadWait::Kind kind;
};

inline constexpr WaitingCall kWaitingCalls[] = {
    {"pthread_mutex_lock", ThreadWait::Kind::mutex},
    {"pthread_mutex_timedlock", ThreadWait::Kind::mutex},
    {"pthread_mutex_clocklock", ThreadWait::Kind::mutex},
    {"mtx_lock", ThreadWait::Kind::mutex},
    {"pthread_cond_wait", ThreadWait::Kind::condition},
    {"pthread_cond_timedwait", ThreadWait::Kind::condition},
    {"pthread_cond_clockwait", ThreadWait::Kind::condition},
    {"cnd_wait", ThreadWait::Kind::condition},
    {"sem_wait", ThreadWait::Kind::semaphore},
    {"sem_timedwait", ThreadWait::Kind::semaphore},
    {"sem_clockwait", ThreadWait::Kind::semaphore},
    {"pthread_join", ThreadWait::Kind::join},
    {"thrd_join", ThreadWait::Kind::join},
    {"pthread_rwlock_rdlock", ThreadWait::Kind::rwlock},
    {"pthread_rwlock_wrlock", ThreadWait::Kind::rwlock},
    {"pthread_barrier_wait", ThreadWait::Kind::barrier},
    {"pthread_once", ThreadWait::Kind::word},
    {"futex", ThreadWait::Kind::word},
    {"__cxa_guard_acquire", ThreadWait::Kind::word},
};

/// Null if it is none of these.
inline const WaitingCall* waiting_call(std::string_view function) {
  // Versioned symbols have their version behind an @, the library's own names two underscores.
  function = function.substr(0, function.find('@'));
  for (const WaitingCall& call : kWaitingCalls) {
    if (call.name == function || (function.starts_with("__") && call.name == function.substr(2)))
      return &call;
  }
  return nullptr;
}

inline std::optional<ThreadWait::Kind> thread_wait_kind(std::string_view function) {
  const WaitingCall* call = waiting_call(function);
  return call != nullptr ? std::optional(call->kind) : std::nullopt;
}

}  // namespace culprit::assemble::stuck
