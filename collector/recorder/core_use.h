// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How much of a core the process's threads got: CPU time, the time in which they could have run and
// had no core, and which cores they might use. Linux keeps the first two for each thread
// (/proc/self/task/*/schedstat), where it is built to.
#pragma once

namespace culprit::collector {

/// Once, when the process is recorded: threads that end are counted from now on.
void begin_core_use();

/// Writes what is known by now into the process's record: of threads that live, and of those that
/// had logs and ended. Reads a file for each living thread.
void refresh_core_use();

}  // namespace culprit::collector
