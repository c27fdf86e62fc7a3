// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/launch/heartbeat.h"

#include <time.h>

#include <string>

#include "base/files/guarded_path.h"
#include "trace/raw/raw.h"

namespace culprit::cli {
namespace {

uint64_t nanoseconds(clockid_t clock) {
  timespec now = {};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

template <size_t size>
void read_text(const char* file, char (&text)[size]) {
  const std::string read = read_regular_file(file, Owner::anybody).value_or("");
  text[read.substr(0, read.find('\n')).copy(text, size - 1)] = '\0';
}

}  // namespace

void beat(const std::filesystem::path& experiment, bool ended) {
  trace::RawHeartbeat mark = {};
  mark.magic = trace::kRawMagic;
  mark.version = trace::kRawVersion;
  mark.ended = ended ? 1 : 0;
  mark.realtime_ns = nanoseconds(CLOCK_REALTIME);
  mark.monotonic_ns = nanoseconds(CLOCK_MONOTONIC);
  read_text("/proc/sys/kernel/random/boot_id", mark.boot_id);
  (GuardedPath(experiment) / "raw" / trace::kRawHeartbeatFile)
      .overwrite({reinterpret_cast<const char*>(&mark), sizeof mark});
}

}  // namespace culprit::cli
