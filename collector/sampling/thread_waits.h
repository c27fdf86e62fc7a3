// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Waits of the program's threads for each other: joins, condition variables, semaphores, mutexes,
// read-write locks, barriers of POSIX threads, and of C++, which calls these. The calls are stood
// in for. Who waits says so in a record when it is over, with the object that it waited for; who
// lets others go on says so only if somebody waits just then.
#pragma once

#include <cstdint>

namespace culprit::collector::sampling {

/// At load: where the system's own are.
void find_thread_calls();

/// This thread is about to make another. Returns a number for it, which that thread tells
/// say_made(); 0 if nobody is to know.
uint64_t say_making();
/// This thread has just begun.
void note_made(uint64_t number);
/// Its log has just been made: says who made it.
void say_made();

/// This thread's function has returned.
void say_ended();

}  // namespace culprit::collector::sampling
