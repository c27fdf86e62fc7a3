// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The verdict's words on polling: threads that test for messages repeatedly are not counted as
// waiting, but a late sender costs them time nevertheless.
#pragma once

#include <string>

#include "report/words/names.h"

namespace culprit::report {

/// "41.2 % of the allocated time was polling for messages, mostly caused by late (a.c:7) on
/// rank 1."; empty if it was less than 5 %. The cause is named if at least half of the time is its.
std::string polling_verdict(const blame::Findings& findings, const PageNames& names);

}  // namespace culprit::report
