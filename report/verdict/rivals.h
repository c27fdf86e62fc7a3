// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Costs without waits for others: many small messages, short parallel regions, page faults, threads
// in MPI at once. Such a cost comes first in the verdict if its removal would gain more than
// changing a cause of waits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "report/words/layout.h"
#include "report/words/names.h"

namespace culprit::report {

struct Rival {
  blame::Diagnosis kind;
  CallPathId callpath;
  double gain_s = 0;              ///< of the run
  std::string what;               ///< "600 000 messages of 32 bytes from read_re2"
  std::string_view change;        ///< "sixteen joined to one"
  std::string text;               ///< both in a sentence, with the gain
  bool explains_waiting = false;  ///< threads wait since there is nothing but this for them to do
};

/// Returns the rivals that matter, by their gain, largest first.
std::vector<Rival> rivals(const blame::Findings& findings, const PageNames& names,
                          const TimeFormat& time);

}  // namespace culprit::report
