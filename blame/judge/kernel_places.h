// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Where page faults were. A sample finds the thread at a moment, and is charged with all faults
// since the one before. Where functions take turns that are shorter than the time between samples,
// half of the faults of one are charged to the next, which may cause none.
#pragma once

#include "blame/findings/findings.h"

namespace culprit::blame {

/// Moves what is charged to functions whose samples have clearly fewer page faults each than those
/// of another one on their thread, which may have caused it, to what calls both. No sum changes.
void move_doubtful_page_faults(Findings& findings);

}  // namespace culprit::blame
