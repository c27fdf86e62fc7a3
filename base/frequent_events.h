// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The frequent events by number, by name, and as what is left out of a recording. The table is
// frequent_events.def.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace culprit {

enum class Frequent : uint8_t {
#define FREQUENT(name, what) name,
#include "base/frequent_events.def"
#undef FREQUENT
};

/// A row of frequent_events.def, which explains the columns.
struct FrequentText {
  std::string_view name, what;
};

inline constexpr std::array kFrequentEvents = {
#define FREQUENT(name, what) FrequentText{#name, what},
#include "base/frequent_events.def"
#undef FREQUENT
};

constexpr const FrequentText& text(Frequent events) {
  return kFrequentEvents[static_cast<size_t>(events)];
}

/// The events that are left out of the recording, because there are too many of them.
struct Without {
#define FREQUENT(name, what) bool name = false;  ///< what
#include "base/frequent_events.def"
#undef FREQUENT
};

/// Leaves out the events of this name. False if there are none.
constexpr bool leave_out(Without& without, std::string_view events) {
#define FREQUENT(name, what) \
  if (events == #name) return without.name = true;
#include "base/frequent_events.def"
#undef FREQUENT
  return false;
}

}  // namespace culprit
