// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What programs ask of the system by number, where the C library has no function for it, or they do
// not use that (syscall()).
#pragma once

extern "C" {

/// As the library's syscall(): the number, then the arguments.
using SystemCall = long(long, long, long, long, long, long, long);
/// The system call itself: nothing stands in front of it, and nobody is cancelled in it.
__attribute__((visibility("hidden"))) SystemCall culprit_bare_call;
/// The library's own.
extern __attribute__((visibility("hidden"))) SystemCall* culprit_next_call;
/// Where a futex call of the program goes (thread_waits.cpp). With its return address.
__attribute__((visibility("hidden"))) SystemCall culprit_futex_call;

}  // extern "C"

namespace culprit::collector::sampling {

/// At load: where the system's own is.
void find_system_call();

/// In confinement.cpp: the program is about to confine itself.
void before_seccomp(unsigned long operation, const void* filter);
void before_prctl(unsigned long option, unsigned long mode, const void* filter);

}  // namespace culprit::collector::sampling
