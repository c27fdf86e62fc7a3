// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The device runtimes by number, and their properties. The table is device_apis.def.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "trace/paradigm.h"

namespace culprit::trace {

enum class DeviceApi : uint16_t {
#define DEVICE_API(id, number, name, queue, calls, order) id = number,
#include "trace/device_apis.def"
#undef DEVICE_API
};

/// A row of device_apis.def, which explains the columns.
struct DeviceApiText {
  DeviceApi api;
  Paradigm paradigm;
  std::string_view name, queue, calls;
  bool in_order;
};

inline constexpr std::array kDeviceApis = {
#define IN_ORDER true
#define OVERLAPPING false
#define DEVICE_API(id, number, name, queue, calls, order) \
  DeviceApiText{DeviceApi::id, Paradigm::id, name, queue, calls, order},
#include "trace/device_apis.def"
#undef DEVICE_API
#undef IN_ORDER
#undef OVERLAPPING
};

constexpr const DeviceApiText* find_device_api(DeviceApi api) {
  for (const DeviceApiText& row : kDeviceApis) {
    if (row.api == api) return &row;
  }
  return nullptr;
}

/// The text for an api that find_device_api() knows.
constexpr const DeviceApiText& text(DeviceApi api) {
  return *find_device_api(api);
}

/// The runtime whose function has this name.
constexpr const DeviceApiText* device_api_of_call(std::string_view function) {
  for (const DeviceApiText& row : kDeviceApis) {
    if (function.starts_with(row.calls)) return &row;
  }
  return nullptr;
}

constexpr bool is_device_api(Paradigm paradigm) {
  for (const DeviceApiText& row : kDeviceApis) {
    if (row.paradigm == paradigm) return true;
  }
  return false;
}

}  // namespace culprit::trace
