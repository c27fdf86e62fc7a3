// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A trace whose events come at the times at which they came when the run was executed again. So all
// that culprit knows of a run, it knows of the predicted one: it is analysed like any other.
#pragma once

#include <memory>
#include <vector>

#include "base/column.h"
#include "predict/rerun/execute.h"
#include "trace/source.h"

namespace culprit::predict {

/// `source` must outlive it. Locations without breakpoints keep their times.
std::unique_ptr<trace::Source> retime(const trace::Source& source,
                                      std::vector<Column<Breakpoint>> breakpoints);

/// When what happened at `time` happens in the new run. Before the first breakpoint and behind the
/// last, as far from it as it was.
Time retimed(const Column<Breakpoint>& breakpoints, Time time);

}  // namespace culprit::predict
