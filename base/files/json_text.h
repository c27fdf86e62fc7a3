// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Limits for JSON from others, checked before it is parsed: parsers and printers call themselves
// for each level, and a text of brackets alone would use up the stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace culprit {

/// Limit for experiment.json, machine files and models; a value takes some 20 times as much in
/// memory.
inline constexpr uint64_t kLargestJson = uint64_t{64} << 20;

/// Whether arrays and objects are nested as deep as in any file of ours, or a little deeper. True
/// of many texts that are no JSON.
constexpr bool is_shallow_json(std::string_view text) {
  constexpr size_t kDeepest = 64;
  size_t depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '[' || c == '{')) {
      if (++depth > kDeepest) return false;
    } else if (!quoted && (c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return true;
}

}  // namespace culprit
