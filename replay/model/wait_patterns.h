// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The wait patterns by number. The table is wait_patterns.def; `pattern("mpi.late_sender")` is
// checked and resolved by the compiler, so a detector names its pattern as the report does. So is
// the table: ids are unique and parents stand above their children.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace culprit::replay {

enum class Pattern : uint8_t {};

/// A row of wait_patterns.def, which explains the columns.
struct PatternText {
  std::string_view id, parent, name, unit, summary, diagnosis, remedy;
  /// Only has children; nothing is ever reported as it.
  constexpr bool family() const { return remedy.empty(); }
};

inline constexpr std::array kPatterns = {
#define PATTERN(id, parent, name, unit, summary, diagnosis, remedy) \
  PatternText{id, parent, name, unit, summary, diagnosis, remedy},
#include "replay/model/wait_patterns.def"
#undef PATTERN
};

/// Returns the row of a pattern in the table; the table's size if there is none.
constexpr size_t find_pattern(std::string_view id) {
  size_t i = 0;
  while (i < kPatterns.size() && kPatterns[i].id != id) ++i;
  return i;
}

static_assert(kPatterns.size() <= 256);
static_assert(
    [] {
      for (size_t i = 0; i < kPatterns.size(); ++i) {
        const PatternText& row = kPatterns[i];
        if (find_pattern(row.id) != i) return false;
        if (!row.parent.empty() && find_pattern(row.parent) >= i) return false;
        if (row.family() != row.diagnosis.empty()) return false;
      }
      return true;
    }(),
    "wait_patterns.def: an id twice, a parent not above its child, or half a family");

/// The pattern with this id. An unknown one, or a family, does not compile.
consteval Pattern pattern(std::string_view id) {
  const size_t i = find_pattern(id);
  if (i == kPatterns.size() || kPatterns[i].family()) throw "no such pattern in wait_patterns.def";
  return Pattern{static_cast<uint8_t>(i)};
}

/// Propagated like a wait, but adds no waiting time: the thread was not there, or might as well not
/// have been.
constexpr bool is_before_begin(Pattern found) {
  return found == pattern("thread.begin") || found == pattern("thread.spare");
}

/// A device has nothing to do, as far as its operations are known: where some are missing, it may
/// have been busy.
constexpr bool is_of_idle_device(Pattern found) {
  return found == pattern("dev.late_launch") || found == pattern("dev.no_more_work");
}

/// Polling is propagated like a wait, but its time is counted separately: the thread need not have
/// polled.
constexpr bool counts_as_waiting(Pattern found) {
  return found != pattern("mpi.polling") && !is_before_begin(found);
}

constexpr const PatternText& text(Pattern pattern) {
  return kPatterns[static_cast<size_t>(pattern)];
}

}  // namespace culprit::replay
