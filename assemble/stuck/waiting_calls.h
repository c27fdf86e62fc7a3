// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Functions of the system's library in which a thread waits for others, as programs call them.
#pragma once

#include <optional>
#include <string_view>

#include "assemble/stuck/thread_wait.h"
#include "trace/thread_calls.h"

namespace culprit::assemble::stuck {

/// Null if it is none of these.
inline const trace::ThreadCall* waiting_call(std::string_view function) {
  // Versioned symbols have their version behind an @.
  function = function.substr(0, function.find('@'));
  const trace::ThreadCall* call = trace::thread_call(function);
  if (call == nullptr && function.starts_with("__"))
    call = trace::thread_call(trace::public_name(function));
  const bool waits = call != nullptr && call->how != trace::ThreadCallHow::tries &&
                     call->kind != trace::ThreadCallKind::openmp_lock;
  return waits ? call : nullptr;
}

inline ThreadWait::Kind kind_of(const trace::ThreadCall& call) {
  switch (call.kind) {
    case trace::ThreadCallKind::mutex:
      return ThreadWait::Kind::mutex;
    case trace::ThreadCallKind::rwlock:
      return ThreadWait::Kind::rwlock;
    case trace::ThreadCallKind::condition:
      return ThreadWait::Kind::condition;
    case trace::ThreadCallKind::semaphore:
      return ThreadWait::Kind::semaphore;
    case trace::ThreadCallKind::join:
      return ThreadWait::Kind::join;
    case trace::ThreadCallKind::barrier:
      return ThreadWait::Kind::barrier;
    case trace::ThreadCallKind::once:
    case trace::ThreadCallKind::futex:
    case trace::ThreadCallKind::openmp_lock:
      break;
  }
  return ThreadWait::Kind::word;
}

inline std::optional<ThreadWait::Kind> thread_wait_kind(std::string_view function) {
  const trace::ThreadCall* const call = waiting_call(function);
  return call != nullptr ? std::optional(kind_of(*call)) : std::nullopt;
}

}  // namespace culprit::assemble::stuck
