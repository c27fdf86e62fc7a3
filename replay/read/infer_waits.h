// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a host waited for in a call that waits for a queue or an event, where the trace does not say
// which. Many tools record the call alone.
#pragma once

#include <vector>

#include "replay/model/run.h"

namespace culprit::replay {

/// Such a call is taken to have waited for the operation that ended last before it returned, if
/// that had been handed over before and ended just then, and no other did. Otherwise it is unknown
/// what the call waited for, which is counted. Of one process, whose hosts and streams these are.
void infer_waits(Run& run, const std::vector<LocationId>& hosts,
                 const std::vector<LocationId>& streams, Losses& losses);

}  // namespace culprit::replay
