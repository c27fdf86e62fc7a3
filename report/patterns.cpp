// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See patterns.h. The table is short: finding an entry looks at each.

#include "report/patterns.h"

namespace culprit::report {

const PatternText* find_pattern(std::string_view id) {
  for (const PatternText& pattern : patterns()) {
    if (pattern.id == id) return &pattern;
  }
  return nullptr;
}

std::string_view pattern_name(std::string_view id) {
  const PatternText* pattern = find_pattern(id);
  return pattern ? pattern->name : id;
}

}  // namespace culprit::report
