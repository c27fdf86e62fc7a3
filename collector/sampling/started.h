// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Whether what happens in this process between its events is watched: what stand-ins ask first. The
// sampling probe says so (sampler.cpp).
#pragma once

namespace culprit::collector::sampling {

/// The sampling probe has started.
bool has_started();
/// Not a child that was made without fork's handlers (clone): it shares the mapped files.
bool is_same_process();
/// The same, but for children that share this process's memory (vfork), whose parent sleeps
/// meanwhile. It costs no system call.
bool is_same_memory();
/// Nothing is watched any more: once it returns, what was watching makes no system calls.
void stop_watching();

}  // namespace culprit::collector::sampling
