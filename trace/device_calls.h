// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What calls of devices' runtimes mean (device_calls.def). That the region belongs to such a
// runtime is for the caller to know: names do not say it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "trace/paradigm.h"

namespace culprit::trace {

enum class DeviceTrait : uint8_t {
  start_up,
  waits_for_device,
  waits_for_queue,
  waits_for_event,
  begins_capture,
  ends_capture,
  copies
};

/// In names of calls that return before what they hand over is done.
inline constexpr std::string_view kDoesNotWait = "Async";

constexpr bool is_device_call(std::string_view function, DeviceTrait trait) {
  struct Row {
    std::string_view beginning;
    DeviceTrait trait;
  };
  constexpr Row kRows[] = {
#define DEVICE_CALL(beginning, trait) {beginning, DeviceTrait::trait},
#include "trace/device_calls.def"
  };
  if (trait == DeviceTrait::copies && function.find(kDoesNotWait) != function.npos) return false;
  return std::any_of(std::begin(kRows), std::end(kRows), [&](const Row& row) {
    return row.trait == trait && function.starts_with(row.beginning);
  });
}

/// HIP's functions are CUDA's under other names, and its regions count as CUDA's.
inline constexpr Paradigm kHipParadigm = Paradigm::cuda;

/// "LaunchKernel" of "cudaLaunchKernel", "cuLaunchKernel" and "hipLaunchKernel"; empty if it is no
/// such name.
constexpr std::string_view behind_prefix(std::string_view function) {
  for (const std::string_view prefix : {"cuda", "cu", "hip"}) {
    if (function.size() <= prefix.size() || !function.starts_with(prefix)) continue;
    function.remove_prefix(prefix.size());
    const char first = function.front();
    return first >= 'A' && first <= 'Z' ? function : std::string_view();
  }
  return {};
}

/// "cudaLaunchKernel" of "cudaLaunchKernel_v7000_ptsz": runtimes number the versions of a function,
/// and mark those of other default streams.
constexpr std::string_view without_version(std::string_view function) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const std::string_view suffix : {"_ptsz", "_ptds", "_spt"}) {
      if (!function.ends_with(suffix)) continue;
      function.remove_suffix(suffix.size());
      changed = true;
    }
    const size_t mark = function.rfind("_v");
    if (mark == std::string_view::npos || mark + 2 >= function.size()) continue;
    if (function.find_first_not_of("0123456789", mark + 2) != std::string_view::npos) continue;
    function = function.substr(0, mark);
    changed = true;
  }
  return function;
}

/// Whether a function of this name is one of CUDA's or HIP's.
constexpr bool is_runtime_call(std::string_view function) {
  return !behind_prefix(function).empty();
}

/// Whether the call does nothing but wait for what was handed over to a device before.
constexpr bool waits_for_devices(std::string_view function) {
  return is_device_call(function, DeviceTrait::waits_for_device) ||
         is_device_call(function, DeviceTrait::waits_for_queue) ||
         is_device_call(function, DeviceTrait::waits_for_event);
}

}  // namespace culprit::trace
