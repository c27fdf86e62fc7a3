// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The last step of an analysis: the findings of all ranks are joined, and all lists are sorted.
#pragma once

#include "base/ranks/transport.h"
#include "blame/findings/findings.h"

namespace culprit::blame {

/// On rank 0, `found` becomes the joined findings of all ranks; on other ranks its contents are
/// moved away. Tables of own rows, counts of the run, sums of identities, losses and pass times are
/// joined. Collective.
void join_findings(Transport& ranks, Findings& found);

/// Puts all lists into the order that findings.h states.
void sort_findings(Findings& found, unsigned threads);

}  // namespace culprit::blame
