// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which of the program's own regions and instrumented functions are left out by name (--exclude).
// Regions are compared when their name is met first; functions are found by their address in a
// table that was made before the program began (trace/raw/filter.h).
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/raw/filter.h"

namespace culprit::collector::user {

/// Loads the table of this executable, if there is one.
void start_filter();

bool is_excluded_region(std::string_view name);

struct FunctionTable {
  const uint64_t* slots = nullptr;  ///< nullptr: nothing is left out
  uint32_t bits = 0;
  uintptr_t base = 0;  ///< load address of the executable
};
extern FunctionTable g_excluded;  ///< MT: written once, before the program's own code runs

inline bool is_excluded(const void* function) {
  if (g_excluded.slots == nullptr) [[likely]]
    return false;
  const uint64_t address = reinterpret_cast<uintptr_t>(function) - g_excluded.base;
  const uint64_t mask = (uint64_t{1} << g_excluded.bits) - 1;
  for (uint64_t slot = trace::raw_filter_slot(address, g_excluded.bits);;
       slot = (slot + 1) & mask) {
    if (g_excluded.slots[slot] == address) return true;
    if (g_excluded.slots[slot] == 0) return false;
  }
}

}  // namespace culprit::collector::user
