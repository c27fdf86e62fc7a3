// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A part of the call tree as findings of its own (Song et al. 2004 call it cut: prune and reroot).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "blame/findings/findings.h"

namespace culprit::blame {

/// Globs of whole call paths (base/glob.h).
struct Cut {
  std::vector<std::string> roots;   ///< these become roots, and all else goes; none: no change
  std::vector<std::string> drops;   ///< with all that they call
  std::vector<std::string> folded;  ///< what they call counts as their own
};

/// Error if a glob fits nothing. Sums are those of the rows that are left.
Result<Findings> cut(const Findings& findings, const Cut& wanted);

}  // namespace culprit::blame
