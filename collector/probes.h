// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Starts the probes that observe a program. A new probe is a folder, and one line in probes.cpp
// unless the program itself calls it.
#pragma once

namespace culprit::collector {

/// Starts all probes if recording is wanted. Idempotent: the first of its callers starts them (the
/// library's constructor, or an OpenMP runtime's constructor that looks for tools).
bool start_probes();

}  // namespace culprit::collector
