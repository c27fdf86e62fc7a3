// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The interface between a source of counters and the rest of the collector. One source is built in
// (rusage); others are libraries of their own, opened only when asked for, so that the preload
// library does not depend on what they need: libculprit-papi.so. A counter's value only grows, or
// (level) is a momentary height. Assumes that a source never prints, aborts or throws, and that its
// values are those of the thread that reads; a count for the whole process is given to one thread
// only.
#pragma once

#include <cstdint>

namespace culprit::collector::counters {

/// A counter that was asked for, and its source's answer.
struct Choice {
  const char* name;     ///< as it was asked for
  const char* unit;     ///< "" for plain counts
  bool level;           ///< the value is a momentary height, not a count
  const char* why_not;  ///< the end of a sentence, if it does not count here; else nullptr
};

struct Source {
  uint32_t version;  ///< kSourceVersion
  /// Called first, once in a process: decides which of the choices count here. The answers stay
  /// valid for ever.
  void (*choose)(Choice* choices, unsigned count, bool multiplex);
  /// Called on the thread itself, before its first read; `first` for one thread of the process.
  /// nullptr: this thread does not count.
  void* (*begin_thread)(bool first);
  /// The values of the chosen counters, in order. False: they cannot be read any more.
  bool (*read)(void* thread, uint64_t* values);
  void (*end_thread)(void* thread);
};

inline constexpr uint32_t kSourceVersion = 1;
/// The name under which a library has its Source.
inline constexpr const char* kSourceEntry = "culprit_counter_source";

/// Counts that the system itself keeps for each thread (getrusage): page faults, context switches,
/// times.
extern const Source kRusage;
/// Whether a name is one of those counters.
bool is_rusage(const char* name);

}  // namespace culprit::collector::counters
