// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Questions to which all ranks must have the same answer, since it decides whether they go on.
#pragma once

#include "replay/ranks/exchange.h"

namespace culprit::replay {

/// Whether it is so on any rank. Collective.
inline bool any(Transport& ranks, bool own) {
  return sum(ranks, uint32_t{own}) > 0;
}

}  // namespace culprit::replay
