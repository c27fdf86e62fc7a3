// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The system's names of culprit's own threads in recorded processes: code that looks at a process
// from outside leaves them out.
#pragma once

namespace culprit::trace {

inline constexpr const char* kRawWatcherThread = "culprit-watch";

}  // namespace culprit::trace
