// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What programs ask of the system by number, where the C library has no function for it, or they do
// not use that (syscall()).
#pragma once

namespace culprit::collector::sampling {

/// At load: where the system's own is.
void find_system_call();

/// In confinement.cpp: the program is about to confine itself.
void before_seccomp(unsigned long operation, const void* filter);
void before_prctl(unsigned long option, unsigned long mode, const void* filter);

}  // namespace culprit::collector::sampling
