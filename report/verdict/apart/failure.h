// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How a program failed. Nothing is said of the speed of one that died. One whose ranks have all
// come through MPI_Finalize was measured as a whole, whatever status it returned then: its speed is
// judged, and the failure is said before. Without MPI it is not known whether a program that exits
// with an error had come to its end. What is ended from outside, by a time limit or a person, is no
// failure: it is judged as far as it came.
#pragma once

#include <string>

#include "blame/findings/findings.h"
#include "report/words/layout.h"

namespace culprit::report {

struct Failure {
  std::string text;     ///< a sentence; "" for a program that did not fail
  bool is_end = false;  ///< it was measured as a whole
};
Failure failure_of(const blame::Findings& findings, const TimeFormat& time);

}  // namespace culprit::report
