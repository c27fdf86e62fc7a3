// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Programs that load MPI themselves and ask its library for each function (Julia's MPI.jl, Python's
// ctypes, bindings that adapt to the installed MPI) would get that library's own functions, past
// ours. They get ours, which call the ones that the program would have got. dlsym.S passes on names
// that may be MPI's, or CUPTI's (cupti_place.h).
#include "collector/mpi/by_handle.h"

#include <dlfcn.h>
#include <strings.h>

#include <atomic>
#include <cstring>

#include "collector/process/cupti_place.h"
#include "collector/process/environment.h"
#include "collector/process/system_file.h"

namespace {

using Dlsym = void* (*)(void*, const char*);

const char* base_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

bool is_mpis(void* function) {
  Dl_info where{};
  return dladdr(function, &where) != 0 && where.dli_fname != nullptr &&
         strncmp(base_name(where.dli_fname), "libmpi", 6) == 0;
}

/// The function by that name that this library exports; nullptr if it has none.
void* own_function(Dlsym real, const char* name) {
  Dl_info self{}, where{};
  if (dladdr(reinterpret_cast<void*>(&own_function), &self) == 0) return nullptr;
  void* const handle = dlopen(self.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
  void* const found = handle != nullptr ? real(handle, name) : nullptr;
  const bool is_own =
      found != nullptr && dladdr(found, &where) != 0 && where.dli_fbase == self.dli_fbase;
  return is_own ? found : nullptr;
}

/// Whether our function would go on to a function other than the library's own: to a layer in front
/// of the library, which may just be asking for its next definition. That layer must not get ours
/// again.
bool stands_in_front(Dlsym real, const char* name, void* own) {
  void* const next = real(RTLD_NEXT, name);
  if (next == nullptr) dlerror();
  return next != nullptr && next != own;
}

}  // namespace

extern "C" {

// Read by dlsym.S.
[[gnu::visibility("hidden")]] std::atomic<Dlsym> culprit_real_dlsym{nullptr};

[[gnu::visibility("hidden")]] Dlsym culprit_find_dlsym() {
  void* found = nullptr;
  for (const char* version : {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"}) {
    if (found == nullptr) found = dlvsym(RTLD_NEXT, "dlsym", version);
  }
  const auto real = reinterpret_cast<Dlsym>(found);
  culprit_real_dlsym.store(real, std::memory_order_release);
  return real;
}

static Dlsym real_dlsym() {
  const Dlsym real = culprit_real_dlsym.load(std::memory_order_acquire);
  return real != nullptr ? real : culprit_find_dlsym();
}

[[gnu::visibility("hidden")]] void* culprit_dlsym_of_ours(void* handle, const char* name) {
  const Dlsym real = real_dlsym();
  void* const found = real(handle, name);
  if (found != nullptr && strncmp(name, "cupti", 5) == 0) {
    const bool wanted = culprit::collector::environment().wanted;
    return wanted ? culprit::collector::in_front_of_cupti(name, found) : found;
  }
  const bool may_be = strncasecmp(name, "mpi_", 4) == 0 || strncasecmp(name, "mpix_", 5) == 0;
  if (found == nullptr || !may_be || !culprit::collector::environment().wanted) return found;
  if (!is_mpis(found) || stands_in_front(real, name, found)) return found;
  const culprit::collector::KeepErrno keep;
  void* const own = own_function(real, name);
  if (own == nullptr) dlerror();  // the program's question has an answer, and ours is no error
  return own != nullptr ? own : found;
}

}  // extern "C"

void* culprit::collector::mpi::function_of_library(void* handle, const char* name) {
  return real_dlsym()(handle, name);
}
