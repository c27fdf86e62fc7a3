// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The wait patterns by number. The table is patterns.def; `pattern("mpi.late_sender")` is checked
// and resolved by the compiler, so a detector names its pattern as the report does.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace culprit::replay {

enum class Pattern : uint8_t {};

struct PatternText {
  std::string_view id, name, unit, summary, remedy;
};

inline constexpr std::array kPatterns = {
#define PATTERN(id, name, unit, summary, remedy) PatternText{id, name, unit, summary, remedy},
#include "replay/patterns.def"
#undef PATTERN
};

/// The pattern with this id. An unknown one does not compile.
consteval Pattern pattern(std::string_view id) {
  for (size_t i = 0; i < kPatterns.size(); ++i) {
    if (kPatterns[i].id == id) return Pattern{static_cast<uint8_t>(i)};
  }
  throw "no such pattern in patterns.def";
}

constexpr const PatternText& text(Pattern pattern) {
  return kPatterns[static_cast<size_t>(pattern)];
}

}  // namespace culprit::replay
