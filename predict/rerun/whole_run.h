// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which runs can be executed again. What a trace lacks, the run executed again would lack, too, and
// nobody could tell.
#pragma once

#include "base/result.h"
#include "blame/findings/findings.h"

namespace culprit::predict {

/// An error unless all that was waited for is there, the clocks are as they were, and the run came
/// to its end.
Result<void> check_whole(const blame::Findings& findings);

}  // namespace culprit::predict
