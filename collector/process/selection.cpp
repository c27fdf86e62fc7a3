// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Reasons for being off are bits of one word; only the change between none and some is recorded.
// The frequency of the clock is not known here, so a window's edge is approached in steps: each
// covers nine tenths of the remaining time, by the frequency as measured since the beginning.
#include "collector/process/selection.h"

#include <cstdlib>
#include <cstring>

#include "collector/process/clock.h"
#include "collector/process/environment.h"
#include "collector/process/process_record.h"

namespace culprit::collector {

namespace selection {

namespace {

enum Reason : uint32_t { kProgram = 1, kWindow = 2, kRank = 4, kPhase = 8 };

constexpr uint64_t kNever = ~uint64_t{0};
constexpr uint64_t kShortestBase = 1'000'000;  // ns; a frequency measured over less is meaningless
constexpr uint64_t kLastStep = 20'000;         // ns

trace::RawClockPair g_begin{};
uint64_t g_edges[2] = {kNever, kNever};  ///< the window's begin and end, on the monotonic clock
unsigned g_next_edge = 0;
std::atomic_flag g_checking = ATOMIC_FLAG_INIT;
std::atomic<bool> g_tests_left_out{false};

struct Wanted {
  char name[256] = {};
  size_t length = 0;  ///< 0: any
  int64_t first = 0;
  int64_t last = 0;  ///< below first: all
};
Wanted g_phase;
std::atomic<int64_t> g_visits{0};

void change(Reason reason, bool off, uint64_t since) {
  const uint32_t before = off ? g_off.fetch_or(reason) : g_off.fetch_and(~uint32_t{reason});
  const uint32_t after = off ? before | reason : before & ~uint32_t{reason};
  if ((before == 0) == (after == 0)) return;
  const uint64_t time = now();
  ThreadLog* log = thread_log();
  if (log == nullptr)
    return;  // the collector is inert: the process's record will say how
             // recording begins
  if (after != 0) {
    log->put(time, raw::recording_off{.from = since});
  } else {
    log->put(time, raw::recording_on{.from = since});
  }
}

void choose_window(const Window& window) {
  if (window.begin_s == 0 && window.end_s == 0) return;
  g_edges[0] = g_begin.monotonic_ns + static_cast<uint64_t>(window.begin_s * 1e9);
  if (window.end_s > 0) {
    g_edges[1] = g_begin.monotonic_ns + static_cast<uint64_t>(window.end_s * 1e9);
  }
  if (window.begin_s > 0) {
    g_off.fetch_or(kWindow);
  } else {
    g_next_edge = 1;
  }
  g_next_check.store(g_edges[g_next_edge] == kNever ? kNever : g_begin.ticks + 1,
                     std::memory_order_relaxed);
}

/// "solve", "step:10-20".
void read_phase(const char* text) {
  const char* colon = strrchr(text, ':');
  g_phase.last = -1;
  g_phase.length = colon != nullptr ? static_cast<size_t>(colon - text) : strlen(text);
  memcpy(g_phase.name, text, g_phase.length);
  if (colon != nullptr) {
    char* end = nullptr;
    g_phase.first = g_phase.last = strtoll(colon + 1, &end, 10);
    if (*end == '-') g_phase.last = strtoll(end + 1, nullptr, 10);
  }
  if (g_phase.length > 0) g_off.fetch_or(kPhase);
}

bool is_wanted(const char* name, size_t length) {
  return length == g_phase.length && memcmp(name, g_phase.name, length) == 0;
}

bool lists_rank(const char* list, long rank) {
  while (*list != '\0') {
    char* end = nullptr;
    const long first = strtol(list, &end, 10);
    if (end == list) return false;
    long last = first;
    if (*end == '-') last = strtol(end + 1, &end, 10);
    if (rank >= first && rank <= last) return true;
    list = *end == ',' ? end + 1 : "";
  }
  return false;
}

/// Passes the edges that are over; returns when to look again.
uint64_t pass_edges() {
  const trace::RawClockPair here = clock::read_pair();
  const uint64_t base = here.monotonic_ns - g_begin.monotonic_ns;
  if (base < kShortestBase) return here.ticks + 1;
  const double rate = static_cast<double>(here.ticks - g_begin.ticks) / static_cast<double>(base);
  while (g_next_edge < 2 && here.monotonic_ns >= g_edges[g_next_edge]) {
    const uint64_t late = here.monotonic_ns - g_edges[g_next_edge];
    const auto since = here.ticks - static_cast<uint64_t>(static_cast<double>(late) * rate);
    change(kWindow, ++g_next_edge == 2, since);
  }
  if (g_next_edge == 2 || g_edges[g_next_edge] == kNever) return kNever;
  const uint64_t left = g_edges[g_next_edge] - here.monotonic_ns;
  const double step = static_cast<double>(left) * (left > kLastStep ? 0.9 : 1.0);
  return here.ticks + static_cast<uint64_t>(step * rate);
}

}  // namespace

std::atomic<uint32_t> g_off{0};
std::atomic<uint64_t> g_next_check{kNever};

void load(const trace::RawClockPair& begin) {
  g_begin = begin;
  const Environment& wishes = environment();
  choose_window(wishes.window);
  if (wishes.phase[0] != '\0') read_phase(wishes.phase);
}

void check_window() {
  if (g_checking.test_and_set(std::memory_order_acquire)) return;
  g_next_check.store(kNever, std::memory_order_relaxed);  // change() puts a record
  g_next_check.store(pass_edges(), std::memory_order_relaxed);
  g_checking.clear(std::memory_order_release);
}

void leave_out_tests() {
  g_tests_left_out.store(true, std::memory_order_relaxed);
}

void begins(trace::RawUserRegion kind, const char* name, size_t length, int64_t number,
            uint64_t time) {
  if (g_phase.length == 0 || kind == trace::RawUserRegion::region) return;
  if (!is_wanted(name, length)) return;
  if (kind == trace::RawUserRegion::phase) number = ++g_visits;
  const bool all = g_phase.last < g_phase.first;
  if (all || (number >= g_phase.first && number <= g_phase.last)) change(kPhase, false, time);
}

void has_ended(trace::RawUserRegion kind, const char* name, size_t length, uint64_t time) {
  if (g_phase.length == 0 || kind == trace::RawUserRegion::region) return;
  if (is_wanted(name, length)) change(kPhase, true, time);
}

}  // namespace selection

bool recording() {
  using namespace selection;
  if (g_off.load(std::memory_order_relaxed) == 0) return true;
  const uint64_t check = g_next_check.load(std::memory_order_relaxed);
  if (check == kNever || now() < check) return false;
  check_window();
  return g_off.load(std::memory_order_relaxed) == 0;
}

void switch_recording(bool on) {
  selection::change(selection::kProgram, !on, now());
}

bool tests_wanted() {
  return !environment().without.tests &&
         !selection::g_tests_left_out.load(std::memory_order_relaxed);
}

void rank_is_known(int rank) {
  const char* const ranks = environment().ranks;
  if (ranks[0] == '\0' || selection::lists_rank(ranks, rank)) return;
  selection::change(selection::kRank, true, 0);  // counts from the process's start
}

}  // namespace culprit::collector
