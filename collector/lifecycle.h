// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the preload library tells the recorder about the process it is in.
#pragma once

namespace culprit::collector::lifecycle {

/// The library was loaded: the run starts now. Idempotent.
void load();

/// The process exits in order. Called on the exiting thread while others may still run.
void end();

/// As much has been written as may be (budget.h): recording is over, the program goes on.
/// Async-signal-safe.
void stop_at_limit();

bool is_active();

}  // namespace culprit::collector::lifecycle
