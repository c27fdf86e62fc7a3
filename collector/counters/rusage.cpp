// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// getrusage for the calling thread: one system call for all of them, on every Linux, without
// rights.
#include <sys/resource.h>

#include <cstring>

#include "collector/counters/source.h"

namespace culprit::collector::counters {

namespace {

uint64_t microseconds(const timeval& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000 + static_cast<uint64_t>(time.tv_usec);
}

struct Metric {
  const char* name;
  const char* unit;
  bool level;
  uint64_t (*value)(const rusage& usage);
};

constexpr Metric kMetrics[] = {
    {"ru_minflt", "", false, [](const rusage& u) { return static_cast<uint64_t>(u.ru_minflt); }},
    {"ru_majflt", "", false, [](const rusage& u) { return static_cast<uint64_t>(u.ru_majflt); }},
    {"ru_nvcsw", "", false, [](const rusage& u) { return static_cast<uint64_t>(u.ru_nvcsw); }},
    {"ru_nivcsw", "", false, [](const rusage& u) { return static_cast<uint64_t>(u.ru_nivcsw); }},
    {"ru_utime", "us", false, [](const rusage& u) { return microseconds(u.ru_utime); }},
    {"ru_stime", "us", false, [](const rusage& u) { return microseconds(u.ru_stime); }},
    {"ru_maxrss", "KiB", true, [](const rusage& u) { return static_cast<uint64_t>(u.ru_maxrss); }},
};
constexpr unsigned kMaxChosen = 32;

const Metric* g_chosen[kMaxChosen];
unsigned g_count = 0;

const Metric* find(const char* name) {
  for (const Metric& metric : kMetrics) {
    if (strcmp(metric.name, name) == 0) return &metric;
  }
  return nullptr;
}

void choose(Choice* choices, unsigned count, bool) {
  for (unsigned i = 0; i < count; ++i) {
    const Metric* metric = g_count < kMaxChosen ? find(choices[i].name) : nullptr;
    if (metric == nullptr) {
      choices[i].why_not = "getrusage does not provide it";
      continue;
    }
    choices[i].unit = metric->unit;
    choices[i].level = metric->level;
    g_chosen[g_count++] = metric;
  }
}

void* begin_thread(bool) {
  return g_chosen;  // any address but none: threads have no state
}

bool read(void*, uint64_t* values) {
  rusage usage;
  if (getrusage(RUSAGE_THREAD, &usage) != 0) return false;
  for (unsigned i = 0; i < g_count; ++i) values[i] = g_chosen[i]->value(usage);
  return true;
}

void end_thread(void*) {}

}  // namespace

const Source kRusage = {kSourceVersion, choose, begin_thread, read, end_thread};

bool is_rusage(const char* name) {
  return strncmp(name, "ru_", 3) == 0;
}

}  // namespace culprit::collector::counters
