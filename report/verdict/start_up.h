// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the report says of starting up and shutting down (blame/start_up.h): a line of its own, and
// first only where it is most of a long run.
#pragma once

#include <string>

#include "report/page/layout.h"
#include "report/page/names.h"

namespace culprit::report {

/// "MPI_Init_thread 0.40 s and MPI_Finalize 0.10 s": the longest on the critical path.
std::string start_up_parts(const blame::Findings& findings, const TimeFormat& time);

/// "Start-up and shutdown: 0.50 s (MPI_Init 0.40 s, ...)"; "" if there was next to none.
std::string start_up_sentence(const blame::Findings& findings, const TimeFormat& time);

}  // namespace culprit::report
