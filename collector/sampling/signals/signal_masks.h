// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A thread that blocks signals gets no samples, and must find none that wait for it: its timer
// rests meanwhile.
#pragma once

namespace culprit::collector::sampling {

/// At load: where the system's own calls are.
void find_mask_calls();

/// In sampler.cpp: this thread no longer blocks the signal of samples.
void on_unblocked();

}  // namespace culprit::collector::sampling
