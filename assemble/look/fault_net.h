// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Looks at a living process go through libraries that read its memory and its files while it
// changes both. Whatever they stumble over, the program goes on, and so must who started it.
#pragma once

#include <functional>

namespace culprit::assemble::look {

/// Runs `work`. False if it ended in a fault (SIGSEGV, SIGBUS, SIGFPE, SIGILL): what it had made is
/// lost, its memory too, and it must not be run again. Faults inside of the C library, whose locks
/// would stay taken (all but those of its functions on memory and strings), those of other threads,
/// and all others end the process as ever.
/// MT: one thread at a time.
bool survives(const std::function<void()>& work);

}  // namespace culprit::assemble::look
