// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The least of what the machine has free, and what the control groups above the process leave it.
// Pages of files in a group count as free, since the kernel drops them first.
#include "base/memory.h"

#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>

#include "base/files/regular_file.h"

namespace culprit {

namespace {

namespace fs = std::filesystem;

std::istringstream text_of(const fs::path& file) {
  return std::istringstream(read_regular_file(file, Owner::anybody).value_or(""));
}

std::optional<uint64_t> number_in(const fs::path& file) {
  std::istringstream in = text_of(file);
  uint64_t value = 0;
  if (in >> value) return value;
  return std::nullopt;  // no such file, or "max"
}

uint64_t free_on_machine(const fs::path& root) {
  std::istringstream in = text_of(root / "proc/meminfo");
  std::string key, unit;
  for (uint64_t kib = 0; in >> key >> kib; std::getline(in, unit)) {
    if (key == "MemAvailable:") return kib * 1024;
  }
  return UINT64_MAX;
}

/// Pages of files count as used, but give way.
uint64_t pages_of_files(const fs::path& group, bool whole_tree) {
  std::istringstream in = text_of(group / "memory.stat");
  const std::string prefix = whole_tree ? "total_" : "";
  uint64_t sum = 0, value = 0;
  for (std::string key; in >> key >> value;) {
    if (key == prefix + "inactive_file" || key == prefix + "active_file") sum += value;
  }
  return sum;
}

/// The memory that the limits of a group and of those around it leave.
uint64_t left_in_group(const fs::path& top, const fs::path& group, const char* limit,
                       const char* used, bool whole_tree) {
  uint64_t left = UINT64_MAX;
  for (fs::path at = top / group.relative_path();; at = at.parent_path()) {
    const auto most = number_in(at / limit), now = number_in(at / used);
    if (most && now) {
      const uint64_t taken = *now - std::min(*now, pages_of_files(at, whole_tree));
      left = std::min(left, *most > taken ? *most - taken : 0);
    }
    if (at == top || at.native().size() <= top.native().size()) return left;
  }
}

/// Lines are "0::/group" (version 2) or "5:memory:/group" (version 1).
uint64_t left_in_groups(const fs::path& root) {
  uint64_t left = UINT64_MAX;
  std::istringstream in = text_of(root / "proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string number, controllers, group;
    std::getline(fields, number, ':');
    std::getline(fields, controllers, ':');
    std::getline(fields, group);
    const fs::path top = root / "sys/fs/cgroup";
    if (controllers.empty()) {
      left = std::min(left, left_in_group(top, group, "memory.max", "memory.current", false));
    } else if (controllers == "memory") {
      left = std::min(left, left_in_group(top / "memory", group, "memory.limit_in_bytes",
                                          "memory.usage_in_bytes", true));
    }
  }
  return left;
}

}  // namespace

uint64_t available_memory(const fs::path& root) {
  uint64_t bytes = std::min(free_on_machine(root), left_in_groups(root));
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    bytes = std::min<uint64_t>(bytes, limit.rlim_cur);
  }
  return bytes;
}

void give_back_free_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

}  // namespace culprit
