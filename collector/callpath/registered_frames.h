// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Programs that generate code may register its unwind tables with libgcc (LLVM does it). From then
// on libgcc takes a lock of its own whenever it looks for a table, also to throw an exception. A
// signal handler that unwinds where it has interrupted the holder of this lock waits for its own
// thread, for ever.
#pragma once

namespace culprit::collector::registered_frames {

/// Finds libgcc's memory. Not in signal handlers.
void find_unwinder();

/// Whether the process has ever registered tables. MT: safe; safe in signal handlers.
bool are_there();

/// Whether it is a lock of libgcc's; not before there are tables. Whoever takes it says so first,
/// and when it was given back.
bool is_unwinders(const void* lock);
void begin_lock();
void end_lock();

/// Whether this thread may hold such a lock. Safe in signal handlers.
bool may_be_locked();

}  // namespace culprit::collector::registered_frames
