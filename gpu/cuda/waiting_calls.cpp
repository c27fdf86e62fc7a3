// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A table with a place for each number's lower bits. Its memory is the system's page of zeros until
// it is used.
#include "gpu/cuda/waiting_calls.h"

#include <atomic>
#include <cstddef>

namespace culprit::gpu::cuda {

namespace {

constexpr size_t kPlaces = size_t{1} << 20;
std::atomic<uint32_t> g_places[kPlaces];

}  // namespace

void note_waiting_call(uint32_t number) {
  g_places[number % kPlaces].store(number, std::memory_order_relaxed);
}

bool is_waiting_call(uint32_t number) {
  return number != 0 && g_places[number % kPlaces].load(std::memory_order_relaxed) == number;
}

}  // namespace culprit::gpu::cuda
