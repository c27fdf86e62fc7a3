// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See patterns.h. The table is short: finding an entry looks at each.

#include "report/words/patterns.h"

#include <fmt/format.h>

#include "report/words/layout.h"

namespace culprit::report {
namespace {

constexpr size_t kIdColumn = 36;

/// A name, and the id to ask for.
std::string line_of(const PatternText& pattern, size_t depth) {
  const std::string name = std::string(2 * depth, ' ') + std::string(pattern.name);
  return fmt::format("{} {}\n", left(name, kIdColumn), pattern.id);
}

void add_tree(std::string_view parent, size_t depth, std::string& lines) {
  for (const PatternText& pattern : patterns()) {
    if (pattern.parent != parent) continue;
    lines += line_of(pattern, depth);
    add_tree(pattern.id, depth + 1, lines);
  }
}

}  // namespace

std::vector<blame::FoundPattern> found_patterns() {
  std::vector<blame::FoundPattern> rows;
  for (const PatternText& p : patterns()) {
    blame::FoundPattern& row = rows.emplace_back();
    row.id = p.id, row.parent = p.parent, row.name = p.name, row.unit = p.unit;
    row.summary = p.summary, row.diagnosis = p.diagnosis, row.remedy = p.remedy;
  }
  return rows;
}

const PatternText* find_pattern(std::string_view id) {
  const size_t i = replay::find_pattern(id);
  return i < patterns().size() ? &patterns()[i] : nullptr;
}

std::string_view pattern_name(std::string_view id) {
  const PatternText* pattern = find_pattern(id);
  return pattern ? pattern->name : id;
}

std::string pattern_tree() {
  std::string lines;
  add_tree("", 0, lines);
  return lines;
}

std::string pattern_page(const PatternText& pattern) {
  std::string page = fmt::format("{} ({}", pattern.name, pattern.id);
  if (const PatternText* parent = find_pattern(pattern.parent)) {
    page += fmt::format("; part of {}", parent->name);
  }
  page += ")\n" + wrapped(fmt::format("{}.", pattern.summary), 4);
  if (!pattern.family()) {
    page += wrapped(fmt::format("To confirm: {}.", pattern.diagnosis), 4);
    page += wrapped(fmt::format("Try: {}.", pattern.remedy), 4);
  }
  std::string children;
  add_tree(pattern.id, 1, children);
  if (!children.empty()) page += "More specific patterns:\n" + children;
  return page;
}

}  // namespace culprit::report
