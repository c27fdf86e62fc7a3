// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The verdict on a run, in one sentence and as data: the first thing that a reader needs to know.
// It says what share of the time is lost, by which function, where and when, and the gain of a
// change; a warning says what could change the verdict. The first of these that holds is the
// sentence: the program died (apart/failure.h); it hung; threads had no cores; time is lost that
// nothing explains; a start took longer than the work; and then what would bring most: a cause of
// waiting (causes.h), or something that is no waiting (rivals.h). What else is known follows as
// `more`.
#pragma once

#include "report/verdict/verdict_data.h"
#include "report/words/names.h"

namespace culprit::report {

Verdict judge(const blame::Findings& findings, const PageNames& names);

}  // namespace culprit::report
