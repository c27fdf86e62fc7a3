/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * To be preloaded: the process believes to be on the host SKEW_HOST, whose date is wrong by
 * SKEW_DATE_MS, and whose CLOCK_MONOTONIC is ahead by SKEW_MONOTONIC_MS. Both gain SKEW_PPM
 * millionths. After a second, somebody sets the date: it jumps by SKEW_JUMP_MS. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static int64_t setting(const char* name) {
  const char* value = getenv(name);
  return value ? atoll(value) : 0;
}

static int64_t date_ms, monotonic_ms, jump_ms, ppm, origin;

static int64_t read_clock(clockid_t id) {
  struct timespec t;
  syscall(SYS_clock_gettime, id, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void begin(void) {
  date_ms = setting("SKEW_DATE_MS");
  monotonic_ms = setting("SKEW_MONOTONIC_MS");
  jump_ms = setting("SKEW_JUMP_MS");
  ppm = setting("SKEW_PPM");
  origin = read_clock(CLOCK_MONOTONIC);
}

int clock_gettime(clockid_t id, struct timespec* t) {
  if (id != CLOCK_REALTIME && id != CLOCK_MONOTONIC) return (int)syscall(SYS_clock_gettime, id, t);
  if (origin == 0) begin();
  const int64_t lasted = read_clock(CLOCK_MONOTONIC) - origin;
  const int64_t gained = lasted / 1000000 * ppm;
  const int64_t date = date_ms + (lasted > 1000000000 ? jump_ms : 0);
  const int64_t ahead = (id == CLOCK_REALTIME ? date : monotonic_ms) * 1000000;
  const int64_t shown = read_clock(id) + gained + ahead;
  t->tv_sec = shown / 1000000000;
  t->tv_nsec = shown % 1000000000;
  return 0;
}

int gethostname(char* name, size_t size) {
  const char* host = getenv("SKEW_HOST");
  struct utsname real;
  if (!host && uname(&real) != 0) return -1;
  strncpy(name, host ? host : real.nodename, size);
  return 0;
}
