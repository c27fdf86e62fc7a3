// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Who answers for a function that many call. Where one of its callers makes others wait by it, and
// another calls it without harm, the function says little, and the caller is the one to look at: a
// copy loop, a kernel of linear algebra, a function that all phases use. So what it costs is
// charged to its callers, and on to theirs, as long as some of them do no harm.
#pragma once

#include <span>
#include <vector>

#include "blame/judge/functions.h"

namespace culprit::blame {

/// By CallPathId: the call path of the function that answers for the time at its end; mostly that
/// path itself. `costs`: by CallPathId, in seconds of waiting.
std::vector<CallPathId> answerable_paths(const Findings& findings, const Functions& functions,
                                         std::span<const double> costs);

}  // namespace culprit::blame
