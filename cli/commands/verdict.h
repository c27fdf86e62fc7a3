// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Are findings reliable? Their problems are printed on stderr and determine the exit status, so
// that scripts notice, too.
#pragma once

#include <filesystem>

#include "blame/findings/findings.h"

namespace culprit::cli {

/// Prints the reasons why findings may be unreliable. Returns 0, kContradiction if an identity of
/// the analysis does not hold, kDamaged if records are damaged or missing (a loss of data, other
/// than what a program leaves undone that ends early), or kStuck if the run hung; `experiment` is
/// where they lie.
int judge(const blame::Findings& findings, const std::filesystem::path& experiment);

}  // namespace culprit::cli
