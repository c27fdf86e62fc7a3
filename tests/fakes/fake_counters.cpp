// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A source of counters whose values are known: put in the place of libculprit-papi.so. A thread's
// n-th reading of fake::tens gives 10 n, of fake::hundreds 100 n. With fake::stops among the
// counters, a thread's sixth reading fails. There is no fake::absent.
#include <cstring>

#include "collector/counters/source.h"

namespace {

using culprit::collector::counters::Choice;
using culprit::collector::counters::kSourceVersion;
using culprit::collector::counters::Source;

constexpr uint64_t kLastReading = 5;

uint64_t g_factors[32];
unsigned g_count = 0;
bool g_stops = false;

void choose(Choice* choices, unsigned count, bool) {
  for (unsigned i = 0; i < count; ++i) {
    const bool stops = strcmp(choices[i].name, "fake::stops") == 0;
    const bool tens = strcmp(choices[i].name, "fake::tens") == 0;
    const bool hundreds = strcmp(choices[i].name, "fake::hundreds") == 0;
    if (!stops && !tens && !hundreds) {
      choices[i].why_not = "the fake has none";
      continue;
    }
    choices[i].unit = hundreds ? "pieces" : "";
    g_stops |= stops;
    g_factors[g_count++] = stops ? 0 : hundreds ? 100 : 10;
  }
}

void* begin_thread(bool) {
  return new uint64_t(0);
}

bool read(void* thread, uint64_t* values) {
  const uint64_t reading = ++*static_cast<uint64_t*>(thread);
  for (unsigned i = 0; i < g_count; ++i) values[i] = reading * g_factors[i];
  return !g_stops || reading <= kLastReading;
}

void end_thread(void* thread) {
  delete static_cast<uint64_t*>(thread);
}

}  // namespace

extern "C" __attribute__((visibility("default")))
const Source culprit_counter_source = {kSourceVersion, choose, begin_thread, read, end_thread};
