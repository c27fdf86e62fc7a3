// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Identities that must hold for every result, checked on finished findings: a sum that does not
// agree shows a fault in the analysis, and the result is not reliable.
#pragma once

#include <string>
#include <vector>

#include "blame/findings/findings.h"

namespace culprit::blame {

/// Returns a sentence for each identity that does not hold, with both sums and, where rows show it,
/// the place in the trace at which they differ most. Identities 1 to 5 of the analysis, that
/// efficiencies are the products of their factors, and that no wait is more indirect or propagating
/// than long. Agreement is to one part in 10^9, or one nanosecond.
std::vector<std::string> check_identities(const Findings& findings, bool has_causes = true);

}  // namespace culprit::blame
