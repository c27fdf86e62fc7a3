// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A run's steps (steps.h), stored for code that visits them in any order: 16 bytes per step.
#pragma once

#include <vector>

#include "base/column.h"
#include "base/ids.h"
#include "base/time.h"
#include "predict/rerun/steps.h"

namespace culprit::predict {

struct EventGraph {
  Time begin, end;                    ///< of the recorded run
  std::vector<Column<Step>> steps;    ///< by LocationId
  std::vector<LocationId> locations;  ///< that have any, in order
  Column<Hub> hubs;
  Column<Meeting> meetings;
  std::vector<CallPathId> loops;  ///< as in Dependences, and so are these
  std::vector<uint32_t> pools;
  std::vector<std::vector<PassedAt>> passed;  ///< as in Outline
  Column<Holding> holdings;
  Deliveries deliveries;
  uint32_t locks = 0;
  /// Of transfers: the shortest there was for small messages, which nothing makes faster but a
  /// lower latency. Zero: there were none.
  Duration latency;
  Unknowns unknowns;
};

EventGraph build_graph(Outline outline, unsigned threads);

}  // namespace culprit::predict
