// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What operations of devices are called that have no name of their own, and the roles of their
// regions: the same whoever measured them.
#pragma once

#include <cstddef>
#include <iterator>
#include <string_view>

#include "trace/definitions.h"
#include "trace/device.h"

namespace culprit::trace {
namespace operation_names_detail {

struct Kind {
  std::string_view name;
  RegionRole role;
};
/// By DeviceOpKind.
inline constexpr Kind kKinds[] = {
    {"kernel", RegionRole::kernel},           {"copy", RegionRole::data_transfer},
    {"fill", RegionRole::data_transfer},      {"map", RegionRole::data_transfer},
    {"migration", RegionRole::data_transfer}, {"stream wait", RegionRole::barrier},
    {"marker", RegionRole::barrier},          {"graph", RegionRole::kernel},
    {"host function", RegionRole::function},  {"release", RegionRole::function},
    {"operation", RegionRole::function},
};
static_assert(std::size(kKinds) == static_cast<size_t>(kLastDeviceOpKind) + 1);

/// By CopyDirection.
inline constexpr std::string_view kCopies[] = {"copy",
                                               "copy to device",
                                               "copy from device",
                                               "copy within device",
                                               "copy between devices",
                                               "copy within host"};
static_assert(std::size(kCopies) == static_cast<size_t>(kLastCopyDirection) + 1);

}  // namespace operation_names_detail

constexpr std::string_view operation_name(DeviceOpKind kind,
                                          CopyDirection direction = CopyDirection::none) {
  if (kind == DeviceOpKind::copy) {
    return operation_names_detail::kCopies[static_cast<size_t>(direction)];
  }
  return operation_names_detail::kKinds[static_cast<size_t>(kind)].name;
}

constexpr RegionRole operation_role(DeviceOpKind kind) {
  return operation_names_detail::kKinds[static_cast<size_t>(kind)].role;
}

}  // namespace culprit::trace
