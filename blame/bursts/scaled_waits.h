// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Waits, delays and unattributed waiting of the whole run, each with what its interval follows
// from. Waits are scaled up by their strata. So are the delays whose victims are known, as what
// they cost lies where these waited; other delays, and waiting without a cause, keep their share of
// the pattern's waits. Then the costs of each pattern are brought to the sum of its waits, as in
// any run.
#pragma once

#include <vector>

#include "blame/bursts/common_run.h"
#include "blame/bursts/estimate.h"
#include "blame/bursts/wait_strata.h"

namespace culprit::blame {

/// A row of the whole run, and how its time comes about.
template <class Row>
struct ScaledRow {
  Row row;
  double known_s = 0;  ///< in the part that was traced whole
  ScaledCost scaled;   ///< behind it
};

struct ScaledWaits {
  std::vector<ScaledRow<FoundWait>> waits;
  std::vector<ScaledRow<FoundDelay>> delays;
  std::vector<ScaledRow<FoundUnattributed>> unattributed;
};

ScaledWaits scale_waits(const CommonRun& run, const WaitStrata& places);

}  // namespace culprit::blame
