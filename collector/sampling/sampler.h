// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The sampling probe: where threads are between their events, by a timer for each.
#pragma once

#include <signal.h>

namespace culprit::collector::sampling {

/// Gives each recording thread a timer from now on, if the environment asks for samples.
void start();

/// One of the timers'.
bool is_our_signal(const siginfo_t& info);

}  // namespace culprit::collector::sampling
