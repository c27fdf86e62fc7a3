// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Sizes are powers of two: the first four buffers have the largest, the next four half of it, and
// so on. Spare ones lie by size.
#include "gpu/cuda/buffers.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <vector>

#include "gpu/drain.h"
#include "gpu/lock.h"

namespace culprit::gpu::cuda {

namespace {

constexpr size_t kLargest = size_t{4} << 20;
constexpr size_t kOfEachSize = 4;
constexpr size_t kSizes = std::bit_width(kLargest / kSmallestBufferBytes);
constexpr size_t kAlignment = 8;
/// The increase in buffers in use since the last flush that makes the next flush due.
constexpr size_t kManyMore = 64;

struct Buffers {
  size_t in_use = 0;
  size_t bytes = 0;                                 ///< of all, spare ones too
  size_t after_flush = 0;                           ///< how many were in use then
  std::array<std::vector<uint8_t*>, kSizes> spare;  ///< the largest first
};

pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
Buffers& state() {
  static auto* const all = new Buffers;  // never torn down
  return *all;
}

constexpr size_t bytes_of(size_t size) {
  return kLargest >> size;
}

/// The size of the next buffer.
size_t next_size(const Buffers& all) {
  return std::min(all.in_use / kOfEachSize, kSizes - 1);
}

/// A spare one: of this size, or of the next smaller or larger one that there is.
Buffer take_spare(Buffers& all, size_t size) {
  for (size_t step = 0; step < kSizes; ++step) {
    for (const size_t at : {size + step, size - step}) {
      if (at >= kSizes || all.spare[at].empty()) continue;
      const Buffer found{all.spare[at].back(), bytes_of(at)};
      all.spare[at].pop_back();
      return found;
    }
  }
  return {};
}

bool is_running_short(const Buffers& all) {
  return all.in_use >= all.after_flush + kManyMore;
}

}  // namespace

uint8_t* new_buffer(size_t bytes) {
  return static_cast<uint8_t*>(aligned_alloc(kAlignment, bytes));
}

Buffer take_buffer(bool at_any_price) {
  Buffers& all = state();
  pthread_mutex_lock(&g_mutex);
  const size_t bytes = bytes_of(next_size(all));
  Buffer taken = take_spare(all, next_size(all));
  const bool makes =
      taken.memory == nullptr && (at_any_price || all.bytes + bytes <= kMostBufferBytes);
  if (makes) all.bytes += bytes;
  if (makes || taken.memory != nullptr) ++all.in_use;
  const bool hurry = is_running_short(all);
  pthread_mutex_unlock(&g_mutex);
  if (hurry) hurry_drain();
  if (!makes) return taken;
  taken = {new_buffer(bytes), bytes};
  if (taken.memory != nullptr) return taken;
  const Lock lock(g_mutex);
  --all.in_use;
  all.bytes -= bytes;
  return {};
}

void give_back_buffer(Buffer buffer) {
  Buffers& all = state();
  const Lock lock(g_mutex);
  if (all.in_use > 0) --all.in_use;
  const auto size =
      static_cast<size_t>(std::bit_width(kLargest / std::max<size_t>(buffer.bytes, 1))) - 1;
  all.spare[std::min(size, kSizes - 1)].push_back(buffer.memory);
}

bool buffers_run_short() {
  Buffers& all = state();
  const Lock lock(g_mutex);
  const bool short_of_them = is_running_short(all);
  all.after_flush = std::min(all.after_flush, all.in_use);
  if (short_of_them) all.after_flush = all.in_use;
  return short_of_them;
}

}  // namespace culprit::gpu::cuda
