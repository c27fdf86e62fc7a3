// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The table of addresses is a file that the command line made, mapped as it is; addresses in it are
// relative to where the executable was loaded.
#include "collector/user/filter.h"

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "base/glob.h"
#include "collector/process/environment.h"
#include "collector/process/system_file.h"

namespace culprit::collector::user {

FunctionTable g_excluded;

namespace {

/// The executable comes first.
int take_base(dl_phdr_info* info, size_t, void* base) {
  *static_cast<uintptr_t*>(base) = info->dlpi_addr;
  return 1;
}

void load_table(const char* path) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  struct stat state{};
  trace::RawFilter head{};
  if (fstat(file, &state) == 0 && read(file, &head, sizeof head) == sizeof head &&
      head.magic == trace::RawFilter::kMagic && head.bits > 0 &&
      head.bits <= trace::kMaxRawFilterBits &&
      static_cast<uint64_t>(state.st_size) == sizeof head + (uint64_t{8} << head.bits)) {
    const auto bytes = static_cast<size_t>(state.st_size);
    void* memory = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (memory != MAP_FAILED) {
      dl_iterate_phdr(take_base, &g_excluded.base);
      g_excluded.bits = head.bits;
      g_excluded.slots =
          reinterpret_cast<const uint64_t*>(static_cast<const char*>(memory) + sizeof head);
    }
  }
  close(file);
}

}  // namespace

void start_filter() {
  const KeepErrno keep;
  struct stat program{};
  if (environment().exclude[0] == '\0' || stat("/proc/self/exe", &program) != 0) return;
  char path[PATH_MAX + 64];
  snprintf(path, sizeof path, "%s/exclude/%llu.%llu", environment().experiment,
           static_cast<unsigned long long>(program.st_ino),
           static_cast<unsigned long long>(program.st_size));
  load_table(path);
}

bool is_excluded_region(std::string_view name) {
  return matches_one_of(environment().exclude, name);
}

}  // namespace culprit::collector::user
