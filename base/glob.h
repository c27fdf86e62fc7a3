// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Patterns of names: `*` stands for any characters, `?` for one, everything else for itself. Needs
// no memory, since the collector uses it too.
#pragma once

#include <string_view>

namespace culprit {

constexpr bool matches_glob(std::string_view pattern, std::string_view text) {
  size_t p = 0, t = 0;
  size_t star = std::string_view::npos, behind_star = 0;  // where to go on if it does not fit
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      behind_star = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++behind_star;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

/// Whether the pattern matches the whole call path, or a function's name if the pattern has no
/// slash.
constexpr bool matches_callpath(std::string_view pattern, std::string_view path,
                                std::string_view function) {
  if (matches_glob(pattern, path)) return true;
  return pattern.find('/') == std::string_view::npos && matches_glob(pattern, function);
}

/// Whether one of the patterns, which commas divide, fits.
constexpr bool matches_one_of(std::string_view patterns, std::string_view text) {
  while (!patterns.empty()) {
    const size_t end = patterns.find(',');
    if (matches_glob(patterns.substr(0, end), text)) return true;
    if (end == std::string_view::npos) return false;
    patterns.remove_prefix(end + 1);
  }
  return false;
}

}  // namespace culprit
