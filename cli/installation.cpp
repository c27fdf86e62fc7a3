// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/installation.h"

#include <sys/auxv.h>

#include <string>
#include <system_error>

namespace culprit::cli {

namespace fs = std::filesystem;

fs::path own_folder() {
  std::error_code code;
  fs::path executable = fs::read_symlink("/proc/self/exe", code);
  // Without /proc, the auxiliary vector has the path by which this program was started.
  const auto* const started = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (code && started != nullptr) executable = fs::canonical(started, code);
  return code ? fs::current_path() : executable.parent_path();
}

fs::path library_folder() {
  return (own_folder() / ".." / "lib").lexically_normal();
}

fs::path include_folder() {
  return (own_folder() / ".." / "include").lexically_normal();
}

Result<fs::path> preload_library() {
  const fs::path library = library_folder() / "libculprit-preload.so";
  std::error_code code;
  for (const fs::path& needed : {library, library_folder() / "libculprit.so"}) {
    if (fs::exists(needed, code)) continue;
    return Error{"its library '" + needed.string() +
                 "' is missing: build or install culprit again"};
  }
  // The dynamic linker splits LD_PRELOAD at these and knows no quoting.
  if (library.string().find_first_of(": ") != std::string::npos) {
    return Error{"the path of '" + library.string() +
                 "' contains a blank or a colon, which LD_PRELOAD does not allow: install culprit "
                 "elsewhere"};
  }
  return library;
}

fs::path device_probe(std::string_view name) {
  const fs::path library = library_folder() / ("libculprit-" + std::string(name) + ".so");
  std::error_code code;
  return fs::exists(library, code) ? library : fs::path();
}

}  // namespace culprit::cli
