// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cli/launch/heartbeat.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cstring>

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
  const int fd = open(file, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  const ssize_t length = read(fd, text, size - 1);
  if (length > 0) text[strcspn(text, "\n")] = '\0';
  close(fd);
}

}  // namespace

void beat(const std::filesystem::path& experiment, bool ended) {
  const auto file = experiment / "raw" / trace::kRawHeartbeatFile;
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (fd < 0) return;
  trace::RawHeartbeat mark = {};
  mark.magic = trace::kRawMagic;
  mark.version = trace::kRawVersion;
  mark.ended = ended ? 1 : 0;
  mark.realtime_ns = nanoseconds(CLOCK_REALTIME);
  mark.monotonic_ns = nanoseconds(CLOCK_MONOTONIC);
  read_text("/proc/sys/kernel/random/boot_id", mark.boot_id);
  (void)!pwrite(fd, &mark, sizeof mark, 0);
  close(fd);
}

}  // namespace culprit::cli
