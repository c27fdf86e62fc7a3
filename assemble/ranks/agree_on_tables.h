// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The tables that analysis ranks fill as they play their own processes become one table for all:
// what events refer to by number, and the pools by which time between samples is divided.
#pragma once

#include <vector>

#include "assemble/play/code.h"
#include "assemble/play/folding.h"
#include "assemble/play/metrics.h"
#include "assemble/play/regions.h"
#include "assemble/run/comms/rank_sets.h"
#include "base/ids.h"
#include "base/ranks/transport.h"

namespace culprit::assemble {

/// Of one rank. All that holds regions by number is here.
struct PlayedTables {
  Regions& regions;
  std::vector<ProcessCode>& code;
  Folding& folding;
  Metrics& metrics;
  RankSets& rank_sets;
  RegionId& not_sampled;
  RegionId& blocked;
};

/// Collective. Sleeps in stretches without samples have names from then on.
void agree_on_tables(Transport& ranks, const PlayedTables& tables);

}  // namespace culprit::assemble
