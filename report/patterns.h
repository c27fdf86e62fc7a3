// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The table of wait patterns looked up by id, since findings name patterns by their ids: what
// reports, the findings file and `culprit patterns` say of a pattern.
#pragma once

#include <span>
#include <string_view>

#include "replay/patterns.h"

namespace culprit::report {

using PatternText = replay::PatternText;

/// All of them, in the table's order.
inline std::span<const PatternText> patterns() {
  return replay::kPatterns;
}

/// nullptr if the table does not know it (findings of another version).
const PatternText* find_pattern(std::string_view id);

/// Its name, or the id itself if unknown.
std::string_view pattern_name(std::string_view id);

}  // namespace culprit::report
