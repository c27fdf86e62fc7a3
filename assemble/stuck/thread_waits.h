// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The system's data on threads that, by their records, are in no call: they may be blocked for a
// lock, a signal, a thread, a pipe, a file of their process or another one. The wait becomes an
// open call like any other (CallKind::thread, CallKind::system). Which object of POSIX threads a
// futex belongs to follows from the functions on the stack, its owner from the object's own words
// (as glibc lays them out).
#pragma once

#include <vector>

#include "assemble/stuck/processes_at_end.h"

namespace culprit::assemble::stuck {

/// Adds to `run` the threads that left no records and may act in the program, each with its end in
/// `ends`, and to the ends of all others the system's data on them. Assumes that the stacks'
/// addresses have been named.
void add_looks(EndedRun& run, std::vector<ThreadEnd>& ends);

}  // namespace culprit::assemble::stuck
