// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which code is the program's own, so that its functions can be named, which only works on behalf
// of its callers, and which only waits. The tables are libraries.def, wrappers.def and
// spin_waits.def; users add to them with a file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace culprit::assemble {

enum class CodeKind : uint8_t {
  user,
  outlined,  ///< body of a parallel region or task, which the compiler made a function
  openmp_runtime,
  system,  ///< libraries that are not the program's, and wrappers
  device_runtime,
  /// A library that calls the program's functions and has threads of its own: where nothing of the
  /// program has called it, it is named like the program.
  framework,
  collector,
};

/// When the function of a library that was called is shown beside its caller.
enum class Shown : uint8_t {
  never,
  called,  ///< if the program itself calls it, and it calls nothing that is recorded
  always,
};

struct LibraryUse {
  CodeKind kind = CodeKind::user;
  Shown shown = Shown::never;
};

class NotThePrograms {
 public:
  /// The tables alone.
  NotThePrograms() = default;
  /// And what a file adds, in lines "function PATTERN", "library PATTERN" or "wait PATTERN".
  static Result<NotThePrograms> read(const std::filesystem::path& file);
  /// And the file that the setting `wrappers` names, if there is any.
  static Result<NotThePrograms> of_user();

  /// Of the file with this name, which is the module `python` ("numpy.core.umath") if that is not
  /// empty.
  LibraryUse library(std::string_view file, std::string_view python) const;
  bool is_wrapper(std::string_view function) const;
  /// Whether it is of a device's runtime that is linked into the program.
  static bool is_of_device_runtime(std::string_view function);
  /// Whether it waits by looking at memory.
  bool is_spin_wait(std::string_view function) const;

 private:
  std::vector<std::string> functions_, libraries_, waits_;  ///< patterns
};

}  // namespace culprit::assemble
