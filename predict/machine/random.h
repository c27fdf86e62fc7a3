// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Random numbers that are the same everywhere: those of the standard library differ from one
// implementation to the next. The generator is xoshiro256++ (D. Blackman, S. Vigna: Scrambled
// linear pseudorandom number generators, ACM TOMS 47, 2021), its state filled by splitmix64.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace culprit::predict {

class Rng {
 public:
  /// Generators of one seed and different streams (a location, a repeat) go different ways.
  explicit Rng(uint64_t seed, uint64_t stream = 0) {
    uint64_t state = seed ^ split(stream);
    for (uint64_t& word : words_) word = split(state);
  }

  uint64_t next() {
    const uint64_t result = std::rotl(words_[0] + words_[3], 23) + words_[0];
    const uint64_t shifted = words_[1] << 17;
    words_[2] ^= words_[0];
    words_[3] ^= words_[1];
    words_[1] ^= words_[2];
    words_[0] ^= words_[3];
    words_[2] ^= shifted;
    words_[3] = std::rotl(words_[3], 45);
    return result;
  }

  /// In [0, 1), all 53 bits of it random.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  /// With mean 1.
  double exponential() { return -std::log1p(-uniform()); }
  /// With mean 0 and standard deviation 1 (Marsaglia's polar method).
  double normal() {
    for (;;) {
      const double x = 2 * uniform() - 1, y = 2 * uniform() - 1, square = x * x + y * y;
      if (square > 0 && square < 1) return x * std::sqrt(-2 * std::log(square) / square);
    }
  }

 private:
  static uint64_t split(uint64_t& state) {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }

  uint64_t words_[4];
};

}  // namespace culprit::predict
