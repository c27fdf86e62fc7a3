// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The data that replay stores about one-sided communication on one location: the acts on windows,
// in order. Fences are collective operations and are kept as those.
#pragma once

#include <cstdint>

#include "base/column.h"
#include "base/ids.h"
#include "replay/model/calls.h"
#include "trace/rma.h"

namespace culprit::replay {

enum class RmaAct : uint8_t { start, complete, post, wait, operation, lock, flush, unlock };

struct RmaFact {
  static constexpr uint32_t kAllTargets = UINT32_MAX;

  CallIndex call;
  WindowId window;
  uint32_t target = kAllTargets;  ///< rank in the window's communicator
  culprit::GroupId group;         ///< of start and post
  RmaAct act = RmaAct::operation;
  bool exclusive = false;  ///< of a lock
  bool no_check = false;   ///< the caller promised that nobody has to be waited for
  uint8_t width = 0;       ///< of an operation: binary digits of the bytes moved
};
static_assert(sizeof(RmaFact) == 20);

/// Fills `fact` from an event. Returns false if the event is none of the acts.
bool rma_fact(const trace::RmaGroupSync& sync, RmaFact& fact);
bool rma_fact(const trace::RmaLock& lock, RmaFact& fact);
bool rma_fact(const trace::RmaSync& sync, RmaFact& fact);
bool rma_fact(const trace::RmaOperation& operation, RmaFact& fact);

}  // namespace culprit::replay
