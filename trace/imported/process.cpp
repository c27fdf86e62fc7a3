// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Names of operations are those that culprit's own measurement gives them, so that runs measured
// by different tools can be compared.
#include "trace/imported/process.h"

#include <algorithm>

#include "trace/device_apis.h"
#include "trace/operation_names.h"

namespace culprit::trace {
namespace {

std::string as_part_of_path(std::string_view name) {
  std::string plain(name);
  if (!plain.starts_with("operator")) std::replace(plain.begin(), plain.end(), '/', '|');
  return plain;
}

}  // namespace

Region imported_function(std::string_view name, std::string_view file, uint32_t line) {
  return {as_part_of_path(name), RegionRole::function, Paradigm::compiler, std::string(file), line};
}

Region imported_library_function(std::string_view name, std::string_view file, uint32_t line) {
  Region region = imported_function(name, file, line);
  region.paradigm = Paradigm::library;
  return region;
}

Region imported_user_region(std::string_view name) {
  return {as_part_of_path(name), RegionRole::code, Paradigm::user, {}, 0};
}

Region imported_iteration(std::string_view name) {
  return {as_part_of_path(name), RegionRole::iteration, Paradigm::user, {}, 0};
}

Region imported_device_call(std::string_view name) {
  const DeviceApiText* const api = device_api_of_call(name);
  return {as_part_of_path(name),
          RegionRole::function,
          api != nullptr ? api->paradigm : Paradigm::cuda,
          {},
          0};
}

Region imported_kernel(std::string_view name, Paradigm paradigm) {
  return {as_part_of_path(name), RegionRole::kernel, paradigm, {}, 0};
}

Region imported_transfer(DeviceOpKind kind, CopyDirection direction, Paradigm paradigm) {
  return {std::string(operation_name(kind, direction)), operation_role(kind), paradigm, {}, 0};
}

std::string without_addresses(std::string_view name) {
  constexpr std::string_view kAt = " at 0x";
  std::string plain;
  for (size_t at = name.find(kAt); at != name.npos; at = name.find(kAt)) {
    plain += name.substr(0, at);
    name.remove_prefix(at + kAt.size());
    name.remove_prefix(std::min(name.find_first_not_of("0123456789abcdefABCDEF"), name.size()));
  }
  return plain.append(name);
}

}  // namespace culprit::trace
