// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A run as a program that can be executed again: each location's steps in order, and the hubs and
// locks through which locations depend on each other. Work takes the time that it took, or what is
// made of it; waiting takes no time of its own: it ends when what is waited for has come.
// In the recorded run every wait ends at the moment when its cause acted, and what follows in the
// call is work (transfer, overhead). So with nothing changed every step comes out at its recorded
// time.
#pragma once

#include <string>
#include <vector>

#include "base/column.h"
#include "base/ids.h"
#include "base/time.h"
#include "predict/rerun/dependences.h"
#include "replay/run.h"
#include "replay/waits.h"

namespace culprit::predict {

enum class StepKind : uint8_t {
  work,      ///< `amount` nanoseconds at call path `what`
  transfer,  ///< likewise, of a call that got data: what followed the moment when it was sent
  idle,      ///< took `amount` nanoseconds in the recorded run, and takes what it takes
  signal,    ///< of hub `what`
  gate,      ///< awaits hub `what`; `amount`: by how many nanoseconds the last other came later
  lock,      ///< holding `what`
  unlock,
};

/// 16 bytes.
struct Step {
  uint64_t kind_ : 8;
  int64_t amount : 56;
  uint32_t what;
  uint32_t delivery;  ///< of a transfer, and of the gate before it; otherwise Deliveries::kNone

  StepKind kind() const { return static_cast<StepKind>(kind_); }
};

struct EventGraph {
  Time begin, end;                    ///< of the recorded run
  std::vector<Column<Step>> steps;    ///< by LocationId
  std::vector<LocationId> locations;  ///< that have any, in order
  Column<Hub> hubs;
  Column<Holding> holdings;
  Deliveries deliveries;
  uint32_t locks = 0;
  /// Of transfers: the shortest there was for small messages, which nothing makes faster but a
  /// lower latency. Zero: there were none.
  Duration latency;
  Untold untold;
};

EventGraph build_graph(const replay::Run& run, const replay::WaitGraph& graph,
                       Dependences dependences, unsigned threads);

}  // namespace culprit::predict
