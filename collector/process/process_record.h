// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The process's own record (trace::RawProcess): its identity, its clock, and its losses. MT:
// counting and refreshing are safe from any thread and from signal handlers.
#pragma once

#include <cstdint>

#include "collector/process/recorder.h"

namespace culprit::collector {

/// Maps `<folder>/process`, or writes it where mapping is refused, and fills in the facts known at
/// load. nullptr if neither can be done: then a file `refused.<errno>` gives the reason.
trace::RawProcess* create_process_record(const char* folder, const trace::RawClockPair& first);

/// Adds to a counter of the record, if this process has a record that it may write to.
void tally(uint64_t trace::RawProcess::* counter, uint64_t count = 1);

/// A file of the process could not be mapped, with this errno: it is kept in memory and written.
void tell_written_behind(int refusal);

/// Keeps a copy of the record's present state (trace::RawSnapshot). For `exit`, the process ends at
/// these ticks, which the record contains from then on.
enum class Moment { going_on, exit };
void take_snapshot(Moment moment = Moment::going_on, uint64_t end = 0);

/// Equal for processes whose ticks come from one clock.
CULPRIT_EXPORT uint64_t clock_identity(const trace::RawProcess& process);

/// Reads all clocks again, so that drift within the run can be corrected.
void refresh_clock_pair();

}  // namespace culprit::collector
