// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Findings made by hand for the tests of report/.
#pragma once

#include "blame/findings/findings.h"

namespace culprit::report {

/// A hybrid run: rank 0 with a master and a slow worker, rank 1 that waits for a message. The sums
/// agree: 16 s of waiting, all of it attributed, a critical path of 11 s.
blame::Findings hybrid_chain();

/// Every field of every list set to a value of its own, absent ids included.
blame::Findings every_field();

}  // namespace culprit::report
