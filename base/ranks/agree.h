// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Questions to which all ranks must have the same answer, since it decides whether they go on.
#pragma once

#include <string>
#include <vector>

#include "base/ranks/exchange.h"
#include "base/result.h"

namespace culprit {

/// Whether it is so on any rank. Collective.
inline bool any(Transport& ranks, bool own) {
  return sum(ranks, uint32_t{own}) > 0;
}

/// Collective: the first error that a rank has, with the name of the node that it was seen from.
/// `own`: this rank's sentence; empty: it has none.
inline Result<void> first_error(Transport& ranks, const std::string& own) {
  const std::vector<std::string> sentences = gather_texts(ranks, own);
  const std::vector<std::string> nodes = gather_texts(ranks, ranks.node());
  for (size_t r = 0; r < sentences.size(); ++r) {
    if (sentences[r].empty()) continue;
    return Error{ranks.alone() ? sentences[r] : sentences[r] + " (seen from " + nodes[r] + ")"};
  }
  return {};
}

}  // namespace culprit
