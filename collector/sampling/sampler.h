// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The sampling probe: finds where threads are between their events, by a timer for each.
#pragma once

#include <cstdint>

namespace culprit::collector::sampling {

/// Finds the functions behind our stand-ins, whether or not anything is recorded: later a thread
/// could not look them up while another loads a library and waits for it.
void load();
/// Gives each recording thread a timer from now on, if the environment asks for samples, and the
/// program's own threads even before their first event. Called by the first thread.
void start();

/// This thread is the program's own, and runs `function`.
void begin_own_thread(uintptr_t function);

}  // namespace culprit::collector::sampling
