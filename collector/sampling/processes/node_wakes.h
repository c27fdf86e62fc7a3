// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Records of threads that let threads of other processes go on, by an object that all of the
// processes know (trace/objects.h).
#pragma once

#include <cstdint>

namespace culprit::collector::sampling {

/// Threads that wait for the object may go on since `time`, which is now or a moment ago.
/// `nowhere`: at its end, the process is in no function of its own.
enum class Whence : uint8_t { caller, nowhere };
void say_woke(uint64_t object, uint64_t time, Whence whence = Whence::caller);

}  // namespace culprit::collector::sampling
