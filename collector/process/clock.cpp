// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Reads and chooses the clock. The kernel decides whether the cycle counter is good: it withdraws
// "tsc" from the available clock sources of a machine whose counters drift apart. In a virtual
// machine the current source may be the hypervisor's and the counter still sound, so the list of
// available sources decides.
#include "collector/process/clock.h"

#include <time.h>

#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <x86intrin.h>
#endif

#include "collector/process/recorder.h"
#include "collector/process/system_file.h"

namespace culprit::collector {

namespace {

enum class Choice : uint32_t { undecided, ticks, monotonic };
Choice g_choice = Choice::undecided;

uint64_t nanoseconds(clockid_t id) {
  timespec t;
  clock_gettime(id, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
}

#if defined(__x86_64__)

inline uint64_t ticks() {
  return __rdtsc();
}

bool counter_is_invariant() {
  unsigned a, b, c, d;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
}

bool kernel_trusts_counter() {
  char sources[256];
  if (!read_text("/sys/devices/system/clocksource/clocksource0/available_clocksource", sources,
                 sizeof sources)) {
    return false;
  }
  return strstr(sources, "tsc") != nullptr;
}

bool ticks_are_good() {
  return counter_is_invariant() && kernel_trusts_counter();
}

#elif defined(__aarch64__)

inline uint64_t ticks() {
  uint64_t value;
  asm volatile("isb; mrs %0, cntvct_el0" : "=r"(value));
  return value;
}

// The architecture guarantees one rate and one value on all cores.
bool ticks_are_good() {
  return true;
}

#else

inline uint64_t ticks() {
  return nanoseconds(CLOCK_MONOTONIC);
}
bool ticks_are_good() {
  return false;
}

#endif

}  // namespace

uint64_t now() {
  if (g_choice == Choice::ticks) [[likely]]
    return ticks();
  if (g_choice == Choice::undecided) {
    clock::choose(false);
    return now();
  }
  return nanoseconds(CLOCK_MONOTONIC);
}

namespace clock {

void choose(bool force_monotonic) {
  if (g_choice != Choice::undecided) return;
  g_choice = !force_monotonic && ticks_are_good() ? Choice::ticks : Choice::monotonic;
}

trace::RawClock chosen() {
  return g_choice == Choice::ticks ? trace::RawClock::tsc : trace::RawClock::monotonic_ns;
}

trace::RawClockPair read_pair() {
  constexpr int kTries = 8;
  trace::RawClockPair best{};
  uint64_t best_width = ~uint64_t{0};
  for (int i = 0; i < kTries; ++i) {
    const uint64_t before = now();
    const uint64_t realtime = nanoseconds(CLOCK_REALTIME);
    const uint64_t monotonic = nanoseconds(CLOCK_MONOTONIC);
    const uint64_t width = now() - before;
    if (width >= best_width) continue;
    best_width = width;
    best = {before + width / 2, realtime, monotonic};
  }
  return best;
}

}  // namespace clock

}  // namespace culprit::collector
