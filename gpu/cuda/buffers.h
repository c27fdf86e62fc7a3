// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Memory for CUPTI's records. Where all of a program's threads share a few buffers, these are
// large; where each thread has one of its own (the default since CUPTI 13.0), and keeps it until
// the next flush though it may have ended, there are many, and each further one is smaller: all of
// them together stay below a bound, and hundreds of threads get one. Buffers are kept for later.
// MT: safe; the lock is held for a few instructions, and never across a foreign call.
#pragma once

#include <cstddef>
#include <cstdint>

namespace culprit::gpu::cuda {

struct Buffer {
  uint8_t* memory = nullptr;  ///< aligned as CUPTI wants it; null: there is none
  size_t bytes = 0;
};

/// All that there may be at once.
inline constexpr size_t kMostBufferBytes = size_t{64} << 20;
/// Size of the smallest buffers; it is small because each thread may have one.
inline constexpr size_t kSmallestBufferBytes = size_t{64} << 10;

/// Takes a buffer. None if the limit is reached, unless `at_any_price`.
Buffer take_buffer(bool at_any_price);
void give_back_buffer(Buffer buffer);
/// Whether many more are in use than at the last call: those that are filled should be fetched.
bool buffers_run_short();
/// A buffer that only the caller owns, for free().
uint8_t* new_buffer(size_t bytes);

}  // namespace culprit::gpu::cuda
