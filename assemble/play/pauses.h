// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// When recording was off in a process (collector/process/selection.h). All its threads were off
// together, whichever of them switched.
#pragma once

#include <cstdint>
#include <vector>

#include "assemble/run/survey.h"

namespace culprit::assemble {

struct Pause {
  static constexpr uint64_t kOpen = ~uint64_t{0};
  uint64_t begin = 0;    ///< ticks
  uint64_t end = kOpen;  ///< kOpen: recording never went on again
};

/// The pauses in order of time, without overlaps.
std::vector<Pause> pauses_of(const trace::RawProcess& process, const Survey& survey);

}  // namespace culprit::assemble
