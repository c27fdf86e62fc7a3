// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How culprit names constructs of OpenMP: "!$omp parallel @solve.c:32".
#pragma once

#include <string_view>

namespace culprit::trace {

inline constexpr std::string_view kConstruct = "!$omp ";

constexpr bool is_construct(std::string_view region) {
  return region.starts_with(kConstruct);
}

/// "parallel @solve.c:32"; anything else as it is.
constexpr std::string_view name_of_construct(std::string_view region) {
  return is_construct(region) ? region.substr(kConstruct.size()) : region;
}

}  // namespace culprit::trace
