// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What calls of devices' runtimes mean (device_calls.def). That the region belongs to such a
// runtime is for the caller to know: names do not say it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace culprit::trace {

enum class DeviceTrait : uint8_t { start_up, waits, finishes };

constexpr bool is_device_call(std::string_view function, DeviceTrait trait) {
  struct Row {
    std::string_view beginning;
    DeviceTrait trait;
  };
  constexpr Row kRows[] = {
#define DEVICE_CALL(beginning, trait) {beginning, DeviceTrait::trait},
#include "trace/device_calls.def"
  };
  return std::any_of(std::begin(kRows), std::end(kRows), [&](const Row& row) {
    return row.trait == trait && function.starts_with(row.beginning);
  });
}

}  // namespace culprit::trace
