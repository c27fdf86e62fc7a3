// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A table without locks. A slot is taken and freed by its event; the state of its task is one word,
// so that the end of the body and the fulfilment see one another.
#include "collector/openmp/gomp/detached.h"

#include <array>
#include <atomic>

namespace culprit::collector::openmp::gomp {

namespace {

constexpr size_t kPlaces = 1024;
constexpr uint64_t kBodyIsOver = uint64_t{1} << 63;

struct Place {
  std::atomic<const void*> event;
  std::atomic<uint64_t> task;
};
constinit std::array<Place, kPlaces> g_places = {};

size_t first_place(const void* event) {
  return (reinterpret_cast<uintptr_t>(event) >> 6) % kPlaces;
}

Place* find(const void* event) {
  const size_t first = first_place(event);
  for (size_t i = 0; i < kPlaces; ++i) {
    Place& place = g_places[(first + i) % kPlaces];
    if (place.event.load(std::memory_order_acquire) == event) return &place;
  }
  return nullptr;
}

}  // namespace

void expect_event(const void* event, uint64_t task) {
  const size_t first = first_place(event);
  for (size_t i = 0; i < kPlaces; ++i) {
    Place& place = g_places[(first + i) % kPlaces];
    const void* free = nullptr;
    if (!place.event.compare_exchange_strong(free, event, std::memory_order_acq_rel)) continue;
    return place.task.store(task, std::memory_order_release);
  }
}

bool outlives_body(const void* event) {
  Place* const place = find(event);
  if (place == nullptr) return false;
  uint64_t task = place->task.load(std::memory_order_acquire);
  while (task != 0) {
    if (place->task.compare_exchange_weak(task, task | kBodyIsOver)) return true;
  }
  return false;
}

Fulfilled fulfil(const void* event) {
  Place* const place = find(event);
  if (place == nullptr) return {0, false};
  const uint64_t task = place->task.exchange(0, std::memory_order_acq_rel);
  place->event.store(nullptr, std::memory_order_release);
  return {task & ~kBodyIsOver, (task & kBodyIsOver) != 0};
}

}  // namespace culprit::collector::openmp::gomp
