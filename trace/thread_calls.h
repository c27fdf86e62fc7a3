// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Calls in which threads wait for each other, by name (thread_calls.def).
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/definitions.h"

namespace culprit::trace {

enum class ThreadCallKind : uint8_t {
  mutex,
  rwlock,
  condition,
  semaphore,
  join,
  barrier,
  once,
  futex,  ///< the system call, made by the program itself
  openmp_lock,
};

enum class ThreadCallHow : uint8_t { waits, timed, tries };

struct ThreadCall {
  std::string_view name;
  ThreadCallKind kind;
  ThreadCallHow how;
};

inline constexpr ThreadCall kThreadCalls[] = {
#define THREAD_CALL(name, kind, how) {name, ThreadCallKind::kind, ThreadCallHow::how},
#include "trace/thread_calls.def"
};

/// Null if it is none of these.
constexpr const ThreadCall* thread_call(std::string_view function) {
  for (const ThreadCall& call : kThreadCalls) {
    if (call.name == function) return &call;
  }
  return nullptr;
}

/// Of a region of a trace. What has a source file is a function of the program's own.
inline const ThreadCall* thread_call(const Region& region) {
  return region.file.empty() ? thread_call(region.name) : nullptr;
}

}  // namespace culprit::trace
