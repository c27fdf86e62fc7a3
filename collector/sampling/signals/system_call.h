// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// System calls that programs make by number (syscall()), because the C library has no function for
// them, or they do not use it.
#pragma once

extern "C" {

/// As the library's syscall(): the number, then the arguments.
using SystemCall = long(long, long, long, long, long, long, long);
/// The system call itself: it bypasses all stand-ins, and is no cancellation point.
__attribute__((visibility("hidden"))) SystemCall culprit_bare_call;
/// The library's own function.
extern __attribute__((visibility("hidden"))) SystemCall* culprit_next_call;
/// Takes a futex call of the program, with its return address (thread_waits.cpp).
__attribute__((visibility("hidden"))) SystemCall culprit_futex_call;

}  // extern "C"

namespace culprit::collector::sampling {

/// Called at load: finds the system's own function.
void find_system_call();

/// In confinement.cpp: the program is about to confine itself.
void before_seccomp(unsigned long operation, const void* filter);
void before_prctl(unsigned long option, unsigned long mode, const void* filter);

}  // namespace culprit::collector::sampling
