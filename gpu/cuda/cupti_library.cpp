// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The library is looked for near the CUDA runtime that the process has loaded, then where toolkits
// lie, and never one that is newer than the driver.
#include "gpu/cuda/cupti_library.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <cstring>
#include <vector>

namespace culprit::gpu::cuda {

namespace {

constexpr int kMajors[] = {13, 12};

/// CUPTI of 12.6 Update 2, which has the number of 12.6, to 13.0: where a clock is registered, the
/// times of kernels may be zero. 13.1 is mended.
constexpr uint32_t kFirstWithoutTimes = 24;
constexpr uint32_t kFirstWithTimesAgain = 130100;

std::string library_name(int major) {
  return "libcupti.so." + std::to_string(major);
}

/// The runtime that is loaded: its folder and major version. A program may have it linked in, then
/// there is none.
struct Runtime {
  std::string folder;
  int major = 0;
};

int look_at(dl_phdr_info* info, size_t, void* data) {
  constexpr char kName[] = "libcudart.so.";
  const char* slash = strrchr(info->dlpi_name, '/');
  if (slash == nullptr || strncmp(slash + 1, kName, strlen(kName)) != 0) return 0;
  auto& found = *static_cast<Runtime*>(data);
  found.folder.assign(info->dlpi_name, static_cast<size_t>(slash - info->dlpi_name));
  found.major = atoi(slash + 1 + strlen(kName));
  return 1;
}

/// The driver's CUDA version, 0 if there is none: newer libraries cannot work with it.
int driver_major() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOLOAD | RTLD_LAZY);
  if (driver == nullptr) return 0;
  const auto get = reinterpret_cast<CUresult (*)(int*)>(dlsym(driver, "cuDriverGetVersion"));
  int version = 0;
  return get != nullptr && get(&version) == CUDA_SUCCESS ? version / 1000 : 0;
}

/// Adds the places, relative to the runtime's folder, where a toolkit, and Python's packages of
/// one, keep the library.
void add_near(const Runtime& runtime, std::vector<std::string>& places) {
  if (runtime.folder.empty()) return;
  for (const char* way : {"/", "/../extras/CUPTI/lib64/", "/../../../extras/CUPTI/lib64/",
                          "/../../cuda_cupti/lib/"}) {
    places.push_back(runtime.folder + way + library_name(runtime.major));
  }
}

std::vector<std::string> places() {
  std::vector<std::string> places;
  Runtime runtime;
  dl_iterate_phdr(look_at, &runtime);
  add_near(runtime, places);
  const int newest = driver_major();
  const char* home = getenv("CUDA_HOME");
  for (const int major : kMajors) {
    if (newest != 0 && major > newest) continue;
    const std::string name = library_name(major);
    places.push_back(name);
    for (const std::string& folder :
         {std::string(home != nullptr ? home : ""), "/usr/local/cuda-" + std::to_string(major),
          std::string("/usr/local/cuda")}) {
      if (folder.empty()) continue;
      places.push_back(folder + "/lib64/" + name);
      places.push_back(folder + "/extras/CUPTI/lib64/" + name);
    }
  }
  return places;
}

void* open_library() {
  for (const int major : kMajors) {
    if (void* handle = dlopen(library_name(major).c_str(), RTLD_NOLOAD | RTLD_NOW)) return handle;
  }
  for (const std::string& place : places()) {
    if (void* handle = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
  }
  return nullptr;
}

}  // namespace

std::string Cupti::text_of(CUptiResult result) const {
  const char* text = nullptr;
  const bool known = cuptiGetResultString(result, &text) == CUPTI_SUCCESS && text != nullptr;
  return known ? text : "error " + std::to_string(static_cast<int>(result));
}

bool Cupti::takes_a_clock() const {
  const bool loses_times = version >= kFirstWithoutTimes && version < kFirstWithTimesAgain;
  return cuptiActivityRegisterTimestampCallback != nullptr && !loses_times;
}

bool open_cupti(Cupti& cupti) {
  void* const library = open_library();
  if (library == nullptr) return false;
  bool complete = true;
#define FIND(name) cupti.name = reinterpret_cast<decltype(cupti.name)>(dlsym(library, #name));
#define FIND_NEEDED(name) FIND(name) complete = complete && cupti.name != nullptr;
  CULPRIT_CUPTI_FUNCTIONS(FIND_NEEDED)
  CULPRIT_CUPTI_OPTIONAL(FIND)
#undef FIND_NEEDED
#undef FIND
  if (complete) cupti.cuptiGetVersion(&cupti.version);
  return complete;
}

}  // namespace culprit::gpu::cuda
