// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the system calls threads of culprit's own in recorded processes: whoever looks at a process
// from outside leaves them out.
#pragma once

namespace culprit::trace {

inline constexpr const char* kRawWatcherThread = "culprit-watch";

}  // namespace culprit::trace
