// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The table of wait patterns looked up by id, since findings name patterns by their ids: what
// reports, the findings file and `culprit patterns` use of a pattern.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "blame/findings/findings.h"
#include "replay/model/wait_patterns.h"

namespace culprit::report {

using PatternText = replay::PatternText;

/// Returns all patterns, in the table's order: each below its parent.
inline std::span<const PatternText> patterns() {
  return replay::kPatterns;
}

/// The same as rows of findings.
std::vector<blame::FoundPattern> found_patterns();

/// nullptr if the table does not know it (findings of another version).
const PatternText* find_pattern(std::string_view id);

/// Its name, or the id itself if unknown.
std::string_view pattern_name(std::string_view id);

/// The whole table as a tree of names and ids, a line each.
std::string pattern_tree();

/// Returns all texts of the table on one pattern, and its children.
std::string pattern_page(const PatternText& pattern);

}  // namespace culprit::report
