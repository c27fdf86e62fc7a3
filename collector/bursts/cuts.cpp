// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Rows are only written while all logs are held: their owners fold into them, and give them new
// numbers where they join.
#include "collector/bursts/cuts.h"

#include <limits.h>

#include <algorithm>
#include <atomic>
#include <cstdio>

#include "collector/bursts/node_page.h"
#include "collector/bursts/profile_file.h"
#include "collector/process/recorder.h"
#include "collector/process/system_file.h"
#include "fold/potential/cut.h"
#include "fold/potential/potential.h"

namespace culprit::collector::cuts {

namespace {

using fold::Change;
using fold::ChangeList;

/// In ticks, of which there are one to four in a nanosecond: how far behind the clock changes are
/// merged, how often, and how long a team's size may be unknown.
constexpr uint64_t kBehind = uint64_t{1} << 21;
constexpr uint64_t kBetween = uint64_t{1} << 26;
constexpr uint64_t kPatience = uint64_t{1} << 24;
constexpr uint32_t kLogs = Change::kMostThreads;
constexpr size_t kRoom = 8192;   ///< changes that are merged at a time
constexpr int kMostRounds = 64;  ///< of a cut

/// All that the cuts of a process need, in zeroed memory.
struct State {
  std::atomic<bool> is_taken;
  std::atomic<uint32_t> log_count;  ///< all are below
  std::atomic<LogFold*> logs[kLogs];
  uint64_t start_ticks;
  std::atomic<uint64_t> made_at;  ///< when the last cut was
  uint64_t merged;                ///< ticks up to which changes are
  uint64_t lost;                  ///< changes of logs that are no more
  bool is_finished;
  LogFold* held[kLogs];
  uint32_t held_count;
  ChangeList* lists[2 * kLogs];
  fold::MergePart parts[2 * kLogs];
  Change from[kRoom], to[kRoom];
  fold::Potential potential;
  char path[PATH_MAX];  ///< of the profile
};

std::atomic<State*> g_state{nullptr};

void rename_rows(void* potential, uint32_t thread, const fold::RowNumbers& numbers) {
  static_cast<fold::Potential*>(potential)->rename_rows(thread, numbers);
}

/// Whether all logs are held now but `own`, which is.
bool hold_all(State& state, const LogFold* own, uint64_t longest) {
  state.held_count = 0;
  const uint32_t count = state.log_count.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i) {
    LogFold* const log = state.logs[i].load(std::memory_order_acquire);
    if (log == nullptr) continue;
    if (log != own && !log->hold(longest)) return false;
    state.held[state.held_count++] = log;
  }
  return true;
}

void release_all(State& state, const LogFold* own) {
  for (uint32_t i = 0; i < state.held_count; ++i) {
    if (state.held[i] != own) state.held[i]->release();
  }
}

/// Logs whose threads have ended go once all of their changes are merged.
void drop_ended(State& state, const LogFold* own) {
  uint32_t left = 0;
  for (uint32_t i = 0; i < state.held_count; ++i) {
    LogFold* const log = state.held[i];
    if (log == own || !log->is_closed() || !log->is_empty()) {
      state.held[left++] = log;
      continue;
    }
    state.logs[log->number()].store(nullptr, std::memory_order_release);
    state.lost += log->lost();
    log->destroy();
  }
  state.held_count = left;
}

/// Folds what is there, and returns up to which moment all of it is known.
uint64_t read_all(State& state, uint64_t until, bool& is_all) {
  is_all = true;
  for (uint32_t i = 0; i < state.held_count; ++i) {
    LogFold& log = *state.held[i];
    log.begin_at(state.merged);
    until = log.settled(until);
    if (log.fold_what_is_there()) continue;
    is_all = false;
    until = std::min(until, log.newest_listed());
  }
  return until;
}

void merge(State& state, uint64_t until) {
  uint32_t lists = 0;
  for (uint32_t i = 0; i < state.held_count; ++i) {
    LogFold& log = *state.held[i];
    state.lists[lists++] = &log.stretches();
    state.lists[lists++] = &log.changes();
    state.potential.set_ledger(log.number(), log.ledger());
  }
  const uint64_t patience = until == UINT64_MAX ? 0 : kPatience;
  state.merged = fold::cut({state.lists, lists}, until, patience,
                           {state.from, state.to, {state.parts, lists}}, state.potential);
  for (uint32_t i = 0; i < state.held_count; ++i) {
    LogFold& log = *state.held[i];
    log.share_early(state.potential.early_blame(log.number()));
  }
}

/// A part of the blame that is no longer in rows, in their units.
uint64_t in_units(fold::Wide amount) {
  return static_cast<uint64_t>(amount >> (fold::kPotentialShift - trace::kProfileBlameShift));
}

/// As long as all records are kept, and none of the logs has filled a window, these say as much.
bool is_shown() {
  return node::whole_part_is_over() || profile_file::is_there();
}

void publish(State& state) {
  if (!is_shown()) return;
  for (uint32_t i = 0; i < state.held_count; ++i) {
    state.held[i]->show(state.path, state.start_ticks);
  }
  const fold::CrewSums sums = state.potential.sums();
  trace::ProfileBlame blame = {};
  blame.until = state.merged;
  blame.idle = sums.idle_ticks;
  for (size_t i = 0; i < fold::kNobodies; ++i) blame.nobody[i] = sums.nobody_ticks[i];
  blame.earned = in_units(sums.earned + sums.early);
  blame.handed = in_units(sums.handed);
  blame.open = in_units(sums.gap());
  blame.kept_out = state.potential.kept_out_ticks();
  blame.lost = state.lost;
  for (uint32_t i = 0; i < state.held_count; ++i) blame.lost += state.held[i]->lost();
  profile_file::show(blame);
}

/// `until`: the moment, UINT64_MAX for the end.
void cut(State& state, uint64_t until) {
  bool is_all = false;
  for (int round = 0; round < kMostRounds && !is_all; ++round) {
    merge(state, read_all(state, until, is_all));
  }
}

}  // namespace

void begin(const char* folder, uint64_t start_ticks) {
  auto* const state = static_cast<State*>(map_memory(sizeof(State)));
  if (state == nullptr) return;
  state->start_ticks = state->merged = start_ticks;
  state->potential.begin(start_ticks);
  snprintf(state->path, sizeof state->path, "%s/%s", folder, trace::kProfileFile);
  g_state.store(state, std::memory_order_release);
}

void forget() {
  unmap_memory(g_state.exchange(nullptr), sizeof(State));
}

bool add(LogFold& log) {
  State* const state = g_state.load(std::memory_order_acquire);
  if (state == nullptr || log.number() >= kLogs) return false;
  log.stretches().set_row_user({rename_rows, &state->potential});
  state->logs[log.number()].store(&log, std::memory_order_release);
  uint32_t count = state->log_count.load(std::memory_order_relaxed);
  while (count <= log.number() &&
         !state->log_count.compare_exchange_weak(count, log.number() + 1)) {
  }
  return true;
}

bool is_due(const LogFold& own) {
  const State* const state = g_state.load(std::memory_order_acquire);
  return state != nullptr &&
         (own.is_filling() || now() >= state->made_at.load(std::memory_order_relaxed) + kBetween);
}

bool make(LogFold& own) {
  State* const state = g_state.load(std::memory_order_acquire);
  if (state == nullptr || state->is_taken.exchange(true, std::memory_order_acquire)) return false;
  const bool is_possible = !state->is_finished && hold_all(*state, &own, LogFold::kAWhile);
  if (is_possible) {
    const uint64_t time = now();
    cut(*state, time - kBehind);
    publish(*state);
    drop_ended(*state, &own);
    state->made_at.store(time, std::memory_order_relaxed);
  }
  release_all(*state, &own);
  state->is_taken.store(false, std::memory_order_release);
  return is_possible;
}

void finish(uint64_t time) {
  const NoCancellation whole;
  State* const state = g_state.load(std::memory_order_acquire);
  if (state == nullptr || !is_shown()) return;
  if (state->is_taken.exchange(true, std::memory_order_acquire)) return;
  if (hold_all(*state, nullptr, LogFold::kForLong)) {
    cut(*state, UINT64_MAX);
    state->potential.finish(time);
    state->merged = time;
    state->is_finished = true;
    publish(*state);
  }
  release_all(*state, nullptr);
  state->is_taken.store(false, std::memory_order_release);
}

}  // namespace culprit::collector::cuts
