// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Waits of the program's threads for each other: joins, condition variables, semaphores, locks and
// barriers of POSIX threads, of C11's, and of C++, which calls POSIX's. The calls have stand-ins. A
// waiting thread records the wait when it is over, with the object that it waited for; a thread
// that lets others go on records that only if any waits just then.
#pragma once

#include <cstdint>

namespace culprit::collector::sampling {

/// Called at load: find the system's own functions.
void find_thread_calls();
void find_locking_calls();
void find_c11_calls();

/// This thread is about to make another. Returns a number for it, which the new thread passes to
/// say_made(); 0 if the creation is not to be recorded.
uint64_t say_making();
/// This thread has just begun.
void note_made(uint64_t number);
/// This thread's log has just been made: records the thread's creator.
void say_made();

/// This thread's function has returned.
void say_ended();

}  // namespace culprit::collector::sampling
