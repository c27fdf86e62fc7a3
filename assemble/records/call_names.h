// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Names of calls of the C library, as programs know them.
#pragma once

#include <string_view>

namespace culprit::assemble {

/// The function that a program calls in its source: headers replace it by others.
inline std::string_view plain_call(std::string_view name) {
  if (name.starts_with("__GI_")) name.remove_prefix(5);  // as the C library calls it within itself
  if (name.starts_with("__")) name.remove_prefix(2);
  if (name.ends_with("_chk")) name.remove_suffix(4);
  if (name.ends_with("64")) name.remove_suffix(2);
  for (const std::string_view standard : {"isoc99_", "isoc23_", "libc_"}) {
    if (name.starts_with(standard)) name.remove_prefix(standard.size());
  }
  return name;
}

}  // namespace culprit::assemble
