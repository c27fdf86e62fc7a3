// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Dependences between locations of several analysis ranks: each rank gets the marks of its own
// locations, and learns who else takes part at its hubs. A dozen bytes for each mark that another
// rank has found.
#pragma once

#include <vector>

#include "predict/rerun/dependences.h"

namespace culprit::predict {

/// Gives marks of other ranks' locations to these, and takes those that they have found for own
/// locations. Collective.
void route_marks(const replay::Run& run, Dependences& found);

/// Those who await a hub of this rank elsewhere, by `here`: this rank's number of it.
using Audience = std::vector<Elsewhere>;

/// Once the signals of own locations are counted (`signals`, by HubId): those of other ranks come
/// on top, each rank's as one, and of another rank's hub that somebody awaits here its opening.
/// Sets HubElsewhere::awaited. Collective.
Audience count_elsewhere(const replay::Run& run, Dependences& found,
                         std::vector<uint32_t>& signals);

}  // namespace culprit::predict
