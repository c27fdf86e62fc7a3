// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Calls in which threads wait for each other, by name (thread_calls.def).
#pragma once

#include <algorithm>
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

/// The function that a program calls, of a name inside of glibc, which its debug information has:
/// "__new_sem_wait_slow64.constprop.0". The function itself may be left before by a tail call.
inline std::string_view public_name(std::string_view function) {
  if (function.starts_with("__GI_")) function.remove_prefix(5);
  function.remove_prefix(std::min(function.find_first_not_of('_'), function.size()));
  if (function.starts_with("new_")) function.remove_prefix(4);
  function = function.substr(0, function.find('.'));
  for (const std::string_view part : {"64", "_slow", "_full", "_common"}) {
    if (function.ends_with(part)) function.remove_suffix(part.size());
  }
  return function == "pthread_clockjoin_ex" ? "pthread_join" : function;
}

}  // namespace culprit::trace
