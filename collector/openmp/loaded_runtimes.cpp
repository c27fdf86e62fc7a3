// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Finds runtimes by walking the loader's list of libraries by name; nothing is opened that is not
// loaded already.
#include "collector/openmp/loaded_runtimes.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>

#include <cstring>

namespace culprit::collector::openmp {

namespace {

constexpr const char* kUsual = "libgomp.so.1";
constexpr const char* kRuntimesWithTools[] = {"libomp.so.5", "libomp.so", "libiomp5.so"};

/// A handle of an object that is loaded already, or nullptr. Its reference count stays raised.
void* loaded(const char* name) {
  return dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
}

/// Copies of libgomp, one after the other: the loader holds a lock while its list is walked, and no
/// code may need that lock meanwhile, so each walk returns one path only.
struct Copies {
  size_t wanted;  ///< index of the wanted copy, from 0
  char path[PATH_MAX];
};

int visit(dl_phdr_info* info, size_t, void* argument) {
  auto& copies = *static_cast<Copies*>(argument);
  if (info->dlpi_name == nullptr || !is_libgomp(info->dlpi_name)) return 0;
  if (strlen(info->dlpi_name) >= sizeof copies.path) return 0;
  if (copies.wanted-- > 0) return 0;
  strcpy(copies.path, info->dlpi_name);
  return 1;
}

/// nullptr: there are fewer copies.
void* copy_of_libgomp(size_t number) {
  Copies copies{number, ""};
  return dl_iterate_phdr(visit, &copies) != 0 ? loaded(copies.path) : nullptr;
}

}  // namespace

bool is_libgomp(const char* path) {
  // libgomp's own plugins for devices do not count.
  const char* const slash = strrchr(path, '/');
  const char* const name = slash != nullptr ? slash + 1 : path;
  constexpr char kStart[] = "libgomp";
  const size_t length = sizeof kStart - 1;
  if (strncmp(name, kStart, length) != 0 || strstr(name, ".so") == nullptr) return false;
  return name[length] == '.' || (name[length] == '-' && strncmp(name + length, "-plugin", 7) != 0);
}

void* loaded_libgomp() {
  void* const usual = loaded(kUsual);
  return usual != nullptr ? usual : copy_of_libgomp(0);
}

bool has_runtime_with_tools() {
  for (const char* name : kRuntimesWithTools) {
    if (loaded(name) != nullptr) return true;
  }
  return false;
}

void* defined_by_loaded(const char* name) {
  for (size_t i = 0; void* copy = copy_of_libgomp(i); ++i) {
    if (void* function = dlsym(copy, name)) return function;
  }
  for (const char* runtime : kRuntimesWithTools) {
    void* const handle = loaded(runtime);
    void* const function = handle != nullptr ? dlsym(handle, name) : nullptr;
    if (function != nullptr) return function;
  }
  return nullptr;
}

}  // namespace culprit::collector::openmp
