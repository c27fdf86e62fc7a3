// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What is no waiting for anybody and costs time all the same: many small messages, short parallel
// regions, page faults, threads in MPI at once. Such a truth comes first in the verdict if it would
// bring more than a change of what others wait for.
#pragma once

#include <string>
#include <vector>

#include "report/words/layout.h"
#include "report/words/names.h"

namespace culprit::report {

struct Rival {
  blame::Diagnosis kind;
  double gain_s = 0;  ///< of the run
  std::string text;
  bool explains_waiting = false;  ///< threads wait since there is nothing but this for them to do
};

/// Those that matter, by what they would bring, most first.
std::vector<Rival> rivals(const blame::Findings& findings, const PageNames& names,
                          const TimeFormat& time);

}  // namespace culprit::report
