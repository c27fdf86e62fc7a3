// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "replay/model/shares.h"

#include <cstdint>

#include "base/ranks/even_shares.h"

namespace culprit::replay {

Shares::Shares(const trace::Definitions& definitions, size_t ranks) {
  std::vector<uint64_t> weights(definitions.processes.size());
  for (const trace::Location& location : definitions.locations) {
    // What damaged archives promise must not overflow; a location without events has work, too.
    weights[location.process.index()] +=
        1 + std::min<uint64_t>(location.event_count, uint64_t{1} << 32);
  }
  for (const size_t first : even_shares(weights, ranks)) first_.emplace_back(first);
}

Shares Shares::of(const trace::Source& source, size_t ranks) {
  const auto opened = source.shares();
  if (opened.empty()) return Shares(source.definitions(), ranks);
  Shares shares;
  shares.first_.assign(opened.begin(), opened.end());
  return shares;
}

}  // namespace culprit::replay
