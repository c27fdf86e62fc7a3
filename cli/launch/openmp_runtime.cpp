// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See openmp_runtime.h. The linker's cache is asked by dlopen, in a way that starts nothing: libomp
// initialises itself at its first use only.

#include "cli/launch/openmp_runtime.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <system_error>

#include "cli/installation.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "libomp.so.5";
constexpr const char* kLibraryRoots[] = {"/usr/lib", "/usr/lib64", "/usr/local/lib", "/opt"};

/// "llvm-19" in a path says 19.
int major_of(const fs::path& library) {
  for (const fs::path& part : library) {
    const std::string name = part.string();
    if (name.starts_with("llvm-") && name.size() > 5 &&
        std::isdigit(static_cast<unsigned char>(name[5]))) {
      return std::atoi(name.c_str() + 5);
    }
  }
  return 0;
}

void add(std::vector<OpenmpRuntime>& found, const fs::path& candidate) {
  std::error_code code;
  const fs::path library = fs::canonical(candidate, code);
  if (code) return;
  const bool known = std::any_of(found.begin(), found.end(), [&](const OpenmpRuntime& runtime) {
    return runtime.library == library;
  });
  if (!known) found.push_back({library, std::max(major_of(candidate), major_of(library))});
}

void add_of_llvm_packages(std::vector<OpenmpRuntime>& found) {
  for (const fs::path root : kLibraryRoots) {
    std::error_code code;
    for (const auto& entry : fs::directory_iterator(root, code)) {
      if (entry.path().filename().string().starts_with("llvm")) {
        add(found, entry.path() / "lib" / kName);
      }
    }
  }
}

void add_of_linker(std::vector<OpenmpRuntime>& found) {
  void* handle = dlopen(kName, RTLD_LAZY | RTLD_LOCAL);
  if (!handle) return;
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map) add(found, map->l_name);
  dlclose(handle);
}

}  // namespace

std::vector<OpenmpRuntime> find_openmp_runtimes() {
  std::vector<OpenmpRuntime> found;
  add(found, library_folder() / kName);
  const auto own = static_cast<std::ptrdiff_t>(found.size());
  add_of_llvm_packages(found);
  add_of_linker(found);
  std::stable_sort(
      found.begin() + own, found.end(),
      [](const OpenmpRuntime& a, const OpenmpRuntime& b) { return a.llvm_major > b.llvm_major; });
  return found;
}

std::optional<OpenmpRuntime> best_openmp_runtime() {
  const std::vector<OpenmpRuntime> found = find_openmp_runtimes();
  return found.empty() ? std::nullopt : std::optional(found.front());
}

}  // namespace culprit::cli
