// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a source of counters is to the rest of the collector. One is built in (rusage); others are
// libraries of their own, opened only when asked for, so that the preload library needs none of
// what they need: libculprit-papi.so. A counter's value only grows, or (level) tells a height.
// Assumes that a source never prints, aborts or throws, and that its values are those of the thread
// that reads; what is counted for the whole process it gives to one thread alone.
#pragma once

#include <cstdint>

namespace culprit::collector::counters {

/// A counter that was asked for, and what its source says of it.
struct Choice {
  const char* name;     ///< as it was asked for
  const char* unit;     ///< "" for plain counts
  bool level;           ///< a height, not a count
  const char* why_not;  ///< a sentence's end, if it does not count here; else nullptr
};

struct Source {
  uint32_t version;  ///< kSourceVersion
  /// First of all, once in a process: which of them count here. The answers live for ever.
  void (*choose)(Choice* choices, unsigned count, bool multiplex);
  /// On the thread itself, before its first read; `first` for one thread of the process. nullptr:
  /// no counting on this thread.
  void* (*begin_thread)(bool first);
  /// The values of those chosen, in order. False: they cannot be read any more.
  bool (*read)(void* thread, uint64_t* values);
  void (*end_thread)(void* thread);
};

inline constexpr uint32_t kSourceVersion = 1;
/// The name under which a library has its Source.
inline constexpr const char* kSourceEntry = "culprit_counter_source";

/// What the system itself counts for each thread (getrusage): page faults, context switches, times.
extern const Source kRusage;
/// Whether a name is one of those.
bool is_rusage(const char* name);

}  // namespace culprit::collector::counters
