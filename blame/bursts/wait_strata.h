// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The strata by which waiting is scaled up: what a call path lasted on a rank, as the profile knows
// it: what it says of waiting in these calls itself includes the runtime's own work, which is none.
// A stratum's parent is that of the path's caller on the same rank, and at the root all ranks.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "blame/bursts/common_run.h"
#include "blame/bursts/estimate.h"

namespace culprit::blame {

class WaitStrata {
 public:
  explicit WaitStrata(const CommonRun& run);

  const Strata& strata() const { return strata_; }
  /// Waits where nobody was expected to wait are in the topmost.
  size_t of(CallPathId callpath, LocationId location) const;

 private:
  using Key = std::pair<CallPathId, uint32_t>;  ///< with the rank

  size_t take(const Key& key, std::vector<Stratum>& all);
  void add_calls(std::vector<Stratum>& all);
  std::vector<bool> paths_that_wait() const;

  const CommonRun& run_;
  std::map<Key, size_t> places_;
  Strata strata_;
};

}  // namespace culprit::blame
