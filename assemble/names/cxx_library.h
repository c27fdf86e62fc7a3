// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// C++'s library is compiled into programs, whose users have not written it.
#pragma once

#include <string_view>

#include "assemble/names/symbol.h"

namespace culprit::assemble {

/// Its public headers have no ending.
inline bool is_of_cxx_library(const SourceFrame& frame) {
  const std::string_view function = frame.function;
  const bool headed = !frame.file.empty() && frame.file.find('.') == std::string::npos;
  return headed || function.starts_with("std::") || function.starts_with("__gthread") ||
         function.starts_with("__gnu_cxx::");
}

}  // namespace culprit::assemble
