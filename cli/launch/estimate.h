// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The output of `--estimate`: the size of the trace of such a run, its largest parts, and what to
// leave out.
#pragma once

#include <string>

#include "assemble/estimate.h"

namespace culprit::cli {

/// The page. `own_time_pct`: estimated cost of measuring, of the run's time.
std::string estimate_page(const assemble::Estimate& estimate);

}  // namespace culprit::cli
