// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which part of a run a table is about.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "blame/findings/findings.h"

namespace culprit::report {

struct Selection {
  std::set<uint32_t> ranks;  ///< empty: all
  std::string pattern;       ///< an id, or that of a family; empty: all
  std::string callpath;      ///< a glob of whole call paths; empty: all

  bool everything() const { return ranks.empty() && pattern.empty() && callpath.empty(); }
};

/// "0,4-7" as ranks. An error if it is not like that.
Result<std::set<uint32_t>> parse_ranks(const std::string& text);
/// Ranks, or other numbers, as people write them: "0, 4-7".
std::string ranks_in_words(const std::set<uint32_t>& ranks);

/// Error if the findings contain nothing of a selection by name: no such rank, no such pattern, no
/// call path that matches.
Result<void> check_selection(const Selection& selection, const blame::Findings& findings);

/// The rows of findings that are selected. Sums over all locations (of the run, of devices, of
/// stages) are left as they are.
blame::Findings select(const blame::Findings& findings, const Selection& selection);

/// "rank 0, call paths like main/*": for the head of a table.
std::string in_words(const Selection& selection);

}  // namespace culprit::report
