// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The last step to findings, whatever their source.
#pragma once

#include "blame/findings/findings.h"

namespace culprit::blame {

/// Sorts all lists of findings that are joined, and fills the values that depend on all rows.
/// `has_causes`: causes of waits are known, and the critical path.
void finish_findings(Findings& findings, unsigned threads, bool has_causes);

}  // namespace culprit::blame
