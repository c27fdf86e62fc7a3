// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A decoder's one export (decoder.h). MT: several threads may ask at once, and for the same symbol;
// they all store the same definition.

#include "collector/mpi/decoder.h"

#include <algorithm>
#include <atomic>
#include <cstring>

using namespace culprit::collector::mpi;

extern "C" CULPRIT_EXPORT void* culprit_mpi_decode(const char* symbol, void* next) {
  const Wrapper* const end = wrappers + wrapper_count;
  const Wrapper* const found =
      std::lower_bound(wrappers, end, symbol,
                       [](const Wrapper& w, const char* s) { return strcmp(w.symbol, s) < 0; });
  if (found == end || strcmp(found->symbol, symbol) != 0) return nullptr;
  std::atomic_ref<void*>(found->function->next[static_cast<int>(found->form)])
      .store(next, std::memory_order_release);
  return found->code;
}
