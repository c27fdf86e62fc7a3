// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Message times between ranks that a launcher started: one pair on the first rank's node, one pair
// from there to another node, one after the other, while all others are quiet. What a link does
// under load is not measured.
#pragma once

#include <vector>

#include "base/ranks/transport.h"
#include "predict/machine/machine.h"

namespace culprit::predict {

struct PingPongSettings {
  size_t largest = size_t{4} << 20;  ///< bytes; sizes are 1, 2, 4 and so on
  size_t repeats = 400;              ///< of small messages; larger ones have fewer
};

/// Collective. The first rank gets the measured links; all others get none.
std::vector<Link> measure_links(Transport& ranks, const PingPongSettings& settings);

}  // namespace culprit::predict
