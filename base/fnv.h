// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// FNV-1a: a hash that is the same on all machines and in all builds, which std::hash is not. It
// guards against damage, not against malice.
#pragma once

#include <cstdint>
#include <string_view>

namespace culprit {

constexpr uint64_t kFnvSeed = 0xcbf29ce484222325u;

/// `seed`: the hash of the bytes before.
constexpr uint64_t fnv1a(std::string_view bytes, uint64_t seed = kFnvSeed) {
  for (const char byte : bytes) seed = (seed ^ static_cast<unsigned char>(byte)) * 0x100000001b3u;
  return seed;
}

}  // namespace culprit
