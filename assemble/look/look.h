// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Looks at the processes of a run that are alive on this host (thread_look.h describes the result).
#pragma once

#include "assemble/look/thread_look.h"
#include "base/files/guarded_path.h"

namespace culprit::assemble::look {

/// The processes that record under `raw` and are alive on this host; `below`: of those alone that
/// this process has started, itself or through others. Of a thread that is where it was `before`,
/// its stack and what it waits for are taken from there.
enum class Which : uint8_t { all, below };
Look look_at_run(const GuardedPath& raw, Which which, const Look& before = {});

}  // namespace culprit::assemble::look
