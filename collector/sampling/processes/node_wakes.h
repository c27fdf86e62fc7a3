// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Who lets threads of other processes go on says so here: by what all of them know
// (trace/objects.h).
#pragma once

#include <cstdint>

namespace culprit::collector::sampling {

/// Whoever waits for the object may go on since `time`, which is now or a moment ago. At its end
/// the process is in no function of its own.
enum class Whence : uint8_t { caller, nowhere };
void say_woke(uint64_t object, uint64_t time, Whence whence = Whence::caller);

/// Of all processes that were forked from one another the system's number of the first. What they
/// share lies at the same address in all of them.
uint64_t family();
/// This process is about to have children.
void begin_family();

}  // namespace culprit::collector::sampling
