// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which runs can be executed again. Events that a trace lacks would be missing from the new run,
// too, without a sign of it.
#pragma once

#include "base/result.h"
#include "blame/findings/findings.h"

namespace culprit::predict {

/// Error unless all awaited events are there, the clocks were not repaired, and the run came to its
/// end.
Result<void> check_whole(const blame::Findings& findings);

}  // namespace culprit::predict
