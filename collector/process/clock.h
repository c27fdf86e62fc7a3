// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The process's clock: the processor's cycle counter where the kernel trusts it too (12 ns a read
// become 30 ns with clock_gettime), else CLOCK_MONOTONIC. All processes of a node decide alike,
// so their ticks can be compared.
#pragma once

#include "trace/raw/raw.h"

namespace culprit::collector::clock {

/// Decides once which clock to read. Called at load; later calls change nothing.
void choose(bool force_monotonic);

trace::RawClock chosen();

/// One moment on all clocks: the tightest of several bracketed readings, since a reading that was
/// interrupted pairs ticks with a later time.
trace::RawClockPair read_pair();

}  // namespace culprit::collector::clock
