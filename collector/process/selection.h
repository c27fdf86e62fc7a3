// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// When to record. The program may switch recording off and on (include/culprit.h, MPI_Pcontrol),
// and the user may choose a window of time since the process began, ranks of MPI_COMM_WORLD, or a
// phase or loop of the program's own (base/settings.def). While any of them is off, put() drops all
// kinds but those of trace::is_kept_when_off(), for the whole process. Recording is switched
// between events, so a window's edge is noticed at the first event behind it; the record of it
// carries the exact time.
#pragma once

#include <atomic>
#include <cstddef>

#include "collector/process/recorder.h"

namespace culprit::collector {

/// False while recording is off: then facts that only serve records need not be gathered. Not for
/// signal handlers, since it may record that a window begins.
CULPRIT_EXPORT bool recording();
/// The program's own switch.
CULPRIT_EXPORT void switch_recording(bool on);
/// Whether MPI's fruitless tests and probes are recorded: the user may leave them out.
CULPRIT_EXPORT bool tests_wanted();
/// MPI has given the process its rank.
CULPRIT_EXPORT void rank_is_known(int rank);

namespace selection {

/// Reads the environment. At load, with the moment that counts as the beginning.
void load(const trace::RawClockPair& begin);

/// The program begins or has ended a phase or iteration of its own, at `time`.
void begins(trace::RawUserRegion kind, const char* name, size_t length, int64_t number,
            uint64_t time);
void has_ended(trace::RawUserRegion kind, const char* name, size_t length, uint64_t time);

// For put(), which asks at each record.

extern std::atomic<uint32_t> g_off;         ///< reasons why recording is off; 0: it is on
extern std::atomic<uint64_t> g_next_check;  ///< ticks; when to look at the window again
void check_window();

/// From now on MPI's fruitless tests are not recorded, as if the user left them out.
void leave_out_tests();

/// Async-signal-safe.
inline bool is_off() {
  return g_off.load(std::memory_order_relaxed) != 0;
}

inline bool skips(RawKind kind, uint64_t time) {
  if (time >= g_next_check.load(std::memory_order_relaxed)) [[unlikely]]
    check_window();
  if (g_off.load(std::memory_order_relaxed) == 0) [[likely]]
    return false;
  return !trace::is_kept_when_off(kind);
}

}  // namespace selection

}  // namespace culprit::collector
