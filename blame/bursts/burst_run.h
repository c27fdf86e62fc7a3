// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What is known of a run that was traced in windows, as findings of its parts.
#pragma once

#include <cstdint>
#include <vector>

#include "blame/findings/findings.h"

namespace culprit::blame {

/// A part of the run that was traced, with moments in seconds of the run. All of its findings are
/// of the time that counts, from `counted_from_s` to `end_s`.
struct TracedWindow {
  uint32_t number = 0;
  double begin_s = 0, counted_from_s = 0, end_s = 0;
  Findings findings;
  bool is_cut = false;  ///< what crosses its edges is left out of its records
};

struct BurstRun {
  Findings profile;                   ///< of the whole run
  Findings whole;                     ///< of the part from its start; no events: there is none
  double whole_s = 0;                 ///< how long that part is
  std::vector<TracedWindow> windows;  ///< behind it, in order of time
};

}  // namespace culprit::blame
