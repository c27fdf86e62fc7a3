// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// C++'s library is compiled into programs, although their authors have not written it.
#pragma once

#include <string_view>

#include "assemble/names/symbol.h"

namespace culprit::assemble {

/// By its name alone.
inline bool is_called_as_cxx_library(std::string_view function) {
  return function.starts_with("std::") || function.starts_with("__gthread") ||
         function.starts_with("__gnu_cxx::");
}

/// Its public headers have no ending.
inline bool is_of_cxx_library(const SourceFrame& frame) {
  const bool headed = !frame.file.empty() && frame.file.find('.') == std::string::npos;
  return headed || is_called_as_cxx_library(frame.function);
}

}  // namespace culprit::assemble
