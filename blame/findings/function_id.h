// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What is one function: a name, a file and a line, whatever call paths lead there. It is one thing
// that somebody can change. Overloads and functions of several files have different places; a
// function without debug information is its name alone.
#pragma once

#include <compare>
#include <cstdint>
#include <string_view>

#include "blame/findings/findings.h"

namespace culprit::blame {

/// Refers to the texts of the findings that it comes from.
struct FunctionId {
  std::string_view name, file;
  uint32_t line = 0;
  auto operator<=>(const FunctionId&) const = default;
};

inline FunctionId function_of(const FoundCallPath& path) {
  return {path.region, path.file, path.line};
}

}  // namespace culprit::blame
