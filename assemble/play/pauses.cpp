// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/play/pauses.h"

#include <algorithm>

namespace culprit::assemble {

std::vector<Pause> pauses_of(const trace::RawProcess& process, const Survey& survey) {
  std::vector<Pause> pauses;
  if (process.starts_off != 0) pauses.push_back({process.start_ticks, Pause::kOpen});
  for (const Switch& change : survey.switches) {
    const uint64_t ticks = std::max(change.ticks, process.start_ticks);
    const bool off = !pauses.empty() && pauses.back().end == Pause::kOpen;
    if (change.on && off) {
      pauses.back().end = std::max(ticks, pauses.back().begin);
    } else if (!change.on && !off) {
      pauses.push_back({ticks, Pause::kOpen});
    }
  }
  return pauses;
}

}  // namespace culprit::assemble
