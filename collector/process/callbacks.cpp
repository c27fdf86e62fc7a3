// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Nothing is ever taken out: a program frees few operations, and gives the same functions again.
#include "collector/process/callbacks.h"

namespace culprit::collector {

constinit std::array<std::atomic<uintptr_t>, callbacks::kMost> callbacks::g_functions{};

void note_callback(uintptr_t function) {
  if (function == 0) return;
  for (std::atomic<uintptr_t>& place : callbacks::g_functions) {
    uintptr_t known = 0;
    if (place.compare_exchange_strong(known, function, std::memory_order_relaxed)) return;
    if (known == function) return;
  }
}

}  // namespace culprit::collector
