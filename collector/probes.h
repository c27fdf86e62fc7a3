// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The start of what observes a program. A new probe is a folder, and one line in probes.cpp unless
// the program itself calls it.
#pragma once

namespace culprit::collector {

/// Starts all probes if recording is wanted. Idempotent: whoever comes first (the library's
/// constructor, an OpenMP runtime's constructor that looks for tools) calls it.
bool start_probes();

}  // namespace culprit::collector
