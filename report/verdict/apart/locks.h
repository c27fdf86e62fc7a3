// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Who takes the lock that others wait for. A cause of such waits is what its holder executes, which
// may lie far below the function that takes the lock, and has to hold it for less time.
#pragma once

#include <string>

#include "blame/judge/causes.h"
#include "report/words/names.h"

namespace culprit::report {

/// ", under the lock that insert (table.c:12) takes,", ", under a lock that it takes,"; "" where
/// the waits are not for locks, or it is not known.
std::string lock_words(const blame::Cause& cause, const blame::Findings& findings,
                       const PageNames& names);

}  // namespace culprit::report
