// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Everything is found from the place of the executable that runs: an installation may be moved.

#include "cli/installation.h"

#include <dlfcn.h>
#include <sys/auxv.h>

#include <string>
#include <system_error>

namespace culprit::cli {

namespace fs = std::filesystem;

std::string version_in_words() {
  std::string words(kVersion);
  if (!commit().empty()) words += " (commit " + std::string(commit()) + ")";
  return words;
}

namespace {

/// Where glibc is too old, the archive's own loader starts the program (packaging/launcher.sh), and
/// is what the kernel executes then; it knows the program's path.
fs::path started_by_loader(const fs::path& loader) {
  Dl_info info{};
  std::error_code code;
  if (dladdr(reinterpret_cast<const void*>(&started_by_loader), &info) == 0) return loader;
  const fs::path program = fs::canonical(info.dli_fname, code);
  return code ? loader : program;
}

}  // namespace

fs::path own_folder() {
  std::error_code code;
  fs::path executable = fs::read_symlink("/proc/self/exe", code);
  if (executable.filename().string().starts_with("ld-linux")) {
    return started_by_loader(executable).parent_path();
  }
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
