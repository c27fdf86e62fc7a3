// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Libraries that make threads (thread_libraries.def). Async-signal-safe.
#pragma once

#include <array>
#include <string_view>

namespace culprit {

struct ThreadLibrary {
  std::string_view prefix;  ///< of the name of its file
  std::string_view name;    ///< as users know it
  bool serves;              ///< its threads never execute the program's code
  std::string_view remedy;  ///< what to set, so that there are fewer of them; empty: nothing known
};

inline constexpr auto kThreadLibraries = [] {
  constexpr bool SERVES = true, WORKS = false;
  return std::to_array<ThreadLibrary>({
#define THREAD_LIBRARY(prefix, name, role, remedy) {prefix, name, role, remedy},
#include "base/cores/thread_libraries.def"
  });
}();

/// The file that makes culprit's own threads in the program: they give way to all others.
inline constexpr const char* kOwnThreadLibrary = "libculprit.so";

/// The row of a file's name; nullptr if it is none of these.
constexpr const ThreadLibrary* thread_library(std::string_view file) {
  for (const ThreadLibrary& library : kThreadLibraries) {
    if (file.starts_with(library.prefix)) return &library;
  }
  return nullptr;
}

}  // namespace culprit
