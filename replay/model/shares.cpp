// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "replay/model/shares.h"

namespace culprit::replay {

Shares::Shares(const trace::Definitions& definitions, size_t ranks) {
  std::vector<uint64_t> weight(definitions.processes.size());
  uint64_t all = 1;  // there may be no locations
  for (const trace::Location& location : definitions.locations) {
    // What damaged archives promise must not overflow; a location without events has work, too.
    const uint64_t events = 1 + std::min<uint64_t>(location.event_count, uint64_t{1} << 32);
    weight[location.process.index()] += events;
    all += events;
  }
  uint64_t before = 0;
  for (size_t p = 0; p < weight.size(); ++p) {
    // A process goes to the rank in whose part of all events its middle lies.
    const double middle = static_cast<double>(before) + 0.5 * static_cast<double>(weight[p]);
    const auto rank =
        static_cast<size_t>(middle / static_cast<double>(all) * static_cast<double>(ranks));
    while (first_.size() < std::min(rank, ranks - 1)) first_.emplace_back(p);
    before += weight[p];
  }
  while (first_.size() + 1 < ranks) first_.emplace_back(weight.size());
}

}  // namespace culprit::replay
