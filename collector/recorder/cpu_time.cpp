// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "collector/recorder/cpu_time.h"

#include "collector/recorder/system_file.h"

namespace culprit::collector {

namespace {

/// The number at the beginning of `text`, which then goes on behind it.
uint64_t take_number(const char*& text) {
  while (*text == ' ') ++text;
  uint64_t number = 0;
  for (; *text >= '0' && *text <= '9'; ++text) {
    number = number * 10 + static_cast<uint64_t>(*text - '0');
  }
  return number;
}

}  // namespace

void put_cpu_time(ThreadLog& log) {
  const KeepErrno keep;
  char text[96];
  if (!read_text("/proc/thread-self/schedstat", text, sizeof text)) return;
  const char* at = text;
  const uint64_t on_core = take_number(at);
  const uint64_t without = take_number(at);
  log.put(now(), raw::cpu_time{.on_core = on_core, .without = without});
}

}  // namespace culprit::collector
