// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What of a thread's log must be known in order to understand its records from some moment on: the
// constructs and calls that have begun and not ended, the requests that are pending, the locks
// held, and how many messages each channel and how many operations each communicator has had. It is
// carried from record to record, and a burst's first records, its preamble, are made of it
// (fold/preamble.h).
//
// The collector carries it inside the program, maybe in a signal handler; assembly does the same
// with records in files. The newest record of a log may still grow (trace/raw/records.def), so it
// is carried only once another one follows it, or once it cannot change any more.
#pragma once

#include <cstddef>

#include "fold/carry_state.h"

namespace culprit::fold {

/// Carries the state over whole records, `bytes` of them: a window, or a part of one. Ends at a
/// record that is not written yet (`none`).
void carry(Carry& state, const void* records, size_t bytes);

}  // namespace culprit::fold
