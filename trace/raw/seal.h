// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The checksums of raw records (trace/raw/raw.h), as the collector makes them and the assembler
// checks them. A sum over 64-bit words, each multiplied and folded together with its place: so it
// can be continued by a record at the price of one multiplication a word, none of which waits for
// another, and yet words that change places are noticed. It guards against damage, not against
// malice.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/raw/raw.h"

namespace culprit::trace {

namespace raw_seal_detail {
inline constexpr uint64_t kPlace = 0x9e3779b97f4a7c15u;  // 2^64 divided by the golden ratio
inline constexpr uint64_t kMix = 0xd6e8feb86659fd93u;    // odd, its bits look random
inline constexpr unsigned kHalf = 32;
}  // namespace raw_seal_detail

/// The contribution of `word` at `place`, in words, to a sum.
constexpr uint64_t raw_sum_of(uint64_t word, uint64_t place) {
  const uint64_t mixed = (word ^ (place * raw_seal_detail::kPlace)) * raw_seal_detail::kMix;
  return mixed ^ (mixed >> raw_seal_detail::kHalf);
}

/// The sum of `count` words, the first of which is at `place`.
inline uint64_t raw_sum(const void* words, size_t count, uint64_t place = 0) {
  const auto* at = static_cast<const uint64_t*>(words);
  uint64_t sum = 0;
  for (size_t i = 0; i < count; ++i) sum += raw_sum_of(at[i], place + i);
  return sum;
}

/// The sum of a structure made of whole words.
template <class Structure>
uint64_t raw_sum_of_all(const Structure& structure) {
  static_assert(sizeof structure % sizeof(uint64_t) == 0 && alignof(Structure) >= sizeof(uint64_t));
  return raw_sum(&structure, sizeof structure / sizeof(uint64_t)) | 1;  // never 0
}

inline uint64_t sum_of_snapshot(const RawSnapshot& snapshot) {
  return raw_sum(&snapshot, offsetof(RawSnapshot, sum) / sizeof(uint64_t)) | 1;
}

/// Tells windows apart, so that one in the place of another is noticed.
constexpr uint64_t raw_seed(uint64_t start_ticks, uint32_t log, uint64_t window) {
  return raw_sum_of(start_ticks, 1) + raw_sum_of(log, 2) + raw_sum_of(window, 3);
}

/// The number of words that a checksum covers is in its record, below the checksum; this is its
/// width in bits.
inline constexpr unsigned kRawSealWords = 17;

/// One word, so that it can be renewed at once: the checksum of `words` words of a window with this
/// sum and seed.
constexpr uint64_t raw_seal(uint64_t sum, uint64_t seed, uint64_t words) {
  const uint64_t mixed = (sum + seed) * raw_seal_detail::kMix;
  return (mixed >> kRawSealWords | 1) << kRawSealWords | words;  // never 0
}

constexpr uint64_t words_of_seal(uint64_t seal) {
  return seal & ((uint64_t{1} << kRawSealWords) - 1);
}

}  // namespace culprit::trace
