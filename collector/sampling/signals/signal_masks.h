// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A thread that blocks signals gets no samples, and must find no pending ones: its timer is paused
// meanwhile.
#pragma once

namespace culprit::collector::sampling {

/// Called at load: finds the system's own functions.
void find_mask_calls();

/// In sampler.cpp: this thread no longer blocks the signal of samples.
void on_unblocked();

}  // namespace culprit::collector::sampling
