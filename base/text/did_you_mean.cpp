// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Words are compared by their edit distance, in which two neighboring letters that changed places
// count once: that is what fingers do.
#include "base/text/did_you_mean.h"

#include <algorithm>
#include <vector>

namespace culprit {
namespace {

size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> of(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) of[i][0] = i;
  for (size_t j = 0; j <= b.size(); ++j) of[0][j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    for (size_t j = 1; j <= b.size(); ++j) {
      of[i][j] = std::min(
          {of[i - 1][j] + 1, of[i][j - 1] + 1, of[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        of[i][j] = std::min(of[i][j], of[i - 2][j - 2] + 1);
      }
    }
  }
  return of[a.size()][b.size()];
}

/// Hostile words are not compared: no typing error is as long.
constexpr size_t kLongestWord = 40;
/// "-n" is as near to "-o" as to any other letter.
constexpr size_t kLetterOption = 2;

}  // namespace

std::optional<std::string> meant_by(std::string_view word, std::span<const std::string> known) {
  if (word.size() > kLongestWord) return std::nullopt;
  if (word.starts_with('-') && word.size() <= kLetterOption) return std::nullopt;
  const std::string* best = nullptr;
  size_t least = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string& each : known) {
    // Who writes the beginning of a word means the whole.
    const size_t far = word.size() > 2 && each.starts_with(word) ? 1 : distance(word, each);
    if (far >= least) continue;
    least = far;
    best = &each;
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  const auto meant = meant_by(word, known);
  return meant ? ": did you mean '" + *meant + "'?" : "";
}

}  // namespace culprit
