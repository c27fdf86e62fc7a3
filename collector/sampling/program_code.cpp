// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Objects are found without a lock (_dl_find_object): the loader may be at work on this thread.
#include "collector/sampling/program_code.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstring>

#include "base/cores/thread_libraries.h"
#include "collector/callpath/unwind.h"
#include "collector/process/callbacks.h"
#include "collector/recorder/thread_log.h"
#include "collector/recorder/thread_registry.h"

namespace culprit::collector::sampling {

namespace {

/// Libraries that call back into the program, or pass its requests on. The collector's stand-ins
/// do.
constexpr const char* kTransparent[] = {"libstdc++",  "libc++",    "libc.",       "libc-",
                                        "libpthread", "ld-linux",  "libgcc_s",    "libasan.",
                                        "libtsan.",   "libubsan.", "libclang_rt", "libculprit"};

/// Without any of these libraries a process is hardly worth recording.
constexpr const char* kRuntimes[] = {"libmpi.",  "libmpi_",    "libmpich", "libomp.",   "libiomp5.",
                                     "libgomp.", "libOpenCL.", "libcuda.", "libcudart."};

template <size_t size>
bool begins_with_one_of(const char* name, const char* const (&prefixes)[size]) {
  for (const char* prefix : prefixes) {
    if (strncmp(name, prefix, strlen(prefix)) == 0) return true;
  }
  return false;
}

const char* base_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

int find_runtime(dl_phdr_info* info, size_t, void* found) {
  const char* path = info->dlpi_name != nullptr ? info->dlpi_name : "";
  if (!begins_with_one_of(base_name(path), kRuntimes)) return 0;
  *static_cast<bool*>(found) = true;
  return 1;
}

using FindObject = int (*)(void*, dl_find_object*);

FindObject object_finder() {
  static std::atomic<FindObject> known{nullptr};
  FindObject find = known.load(std::memory_order_relaxed);
  if (find == nullptr) {
    find = reinterpret_cast<FindObject>(dlsym(RTLD_DEFAULT, "_dl_find_object"));
    known.store(find, std::memory_order_relaxed);
  }
  return find;
}

/// The name of the file that holds the code; empty if it is the program's, or unknown.
const char* file_of(uintptr_t address) {
  const link_map* const object = object_of(address);
  const char* path = object != nullptr ? object->l_name : nullptr;
  return path != nullptr ? base_name(path) : "";
}

bool is_anybody(uintptr_t) {
  return true;
}

/// Whether a file has functions that the program has given MPI to call.
bool has_callbacks(const link_map* file) {
  for (const std::atomic<uintptr_t>& function : callbacks::g_functions) {
    const uintptr_t address = function.load(std::memory_order_relaxed);
    if (address == 0) return false;
    if (object_of(address) == file) return true;
  }
  return false;
}

bool says_who_calls(uintptr_t address) {
  return !is_transparent_file(file_of(address));
}

}  // namespace

void find_object_finder() {
  object_finder();
}

const link_map* object_of(uintptr_t address) {
  dl_find_object object = {};
  const FindObject find = object_finder();
  if (find == nullptr || find(reinterpret_cast<void*>(address), &object) != 0) return nullptr;
  return object.dlfo_link_map;
}

bool is_transparent_file(const char* name) {
  return begins_with_one_of(name, kTransparent);
}

bool has_observed_runtime() {
  bool found = false;
  dl_iterate_phdr(find_runtime, &found);
  return found;
}

const char* file_that_calls(uintptr_t cfa) {
  const uintptr_t caller = find_caller(cfa, says_who_calls);
  return caller != 0 ? file_of(caller) : nullptr;
}

bool is_helpers_file(const char* name) {
  const ThreadLibrary* const library = thread_library(name);
  return library != nullptr && library->serves;
}

bool is_called_by_program(uintptr_t cfa) {
  if (is_collectors_code(find_caller(cfa, is_anybody))) return false;
  const char* const file = file_that_calls(cfa);
  return file != nullptr && !is_helpers_file(file);
}

// A thread waits at the same few places again and again.
bool is_helpers_code(uintptr_t address) {
  // One word, since a signal handler may run in between: the address, and the answer in the lowest
  // bit.
  static constinit thread_local uint64_t last __attribute__((tls_model("initial-exec"))) = 0;
  if (last >> 1 != address) {
    last = uint64_t{address} << 1 | uint64_t{is_helpers_file(file_of(address))};
  }
  return (last & 1) != 0;
}

bool is_called_back(const Frames& frames) {
  const auto file = [&](unsigned i) { return file_of(frames.at[i].address - 1); };
  unsigned inner = 0;  // frames before the library's
  while (inner < frames.count && !is_helpers_file(file(inner))) ++inner;
  const auto calls_library = [&](const char* name) {
    for (unsigned i = inner; i < frames.count; ++i) {
      if (strcmp(file(i), name) == 0) return true;
    }
    return false;
  };
  if (inner == frames.count) return false;
  for (unsigned i = 0; i < inner; ++i) {
    const char* const name = file(i);
    const link_map* const object = object_of(frames.at[i].address - 1);
    if (object == nullptr || is_transparent_file(name)) continue;
    if (*name == '\0' || calls_library(name) || has_callbacks(object)) return true;
  }
  return false;
}

bool is_to_be_recorded(ThreadLog& log, uintptr_t cfa) {
  if (log.waiting == 0) [[likely]]
    return true;
  if (!is_called_by_program(cfa)) return false;  // nearly always
  auto& impl = Recorder::impl(log);
  const Busy busy(impl.busy);
  unwind_above(cfa, impl.frames);
  return is_called_back(impl.frames);
}

bool is_collectors_file(const char* name) {
  return strncmp(name, "libculprit", strlen("libculprit")) == 0;
}

bool is_collectors_code(uintptr_t address) {
  return is_collectors_file(file_of(address));
}

}  // namespace culprit::collector::sampling
