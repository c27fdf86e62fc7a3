// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Parallel regions and leagues of teams. A region is given a body of ours, which records the
// implicit task and runs the program's body; its data lies on the stack of the forking thread,
// which leaves the region last. A worker arrives at the region's end when the body ends; the time
// of its release is recorded when it begins its next region, as LLVM's runtime does. A region that
// begins while nothing is recorded is passed on unchanged.
#include <cstdint>
#include <cstring>

#include "collector/openmp/gomp/events.h"
#include "collector/openmp/gomp/loop_share.h"
#include "collector/openmp/gomp/stand_in.h"
#include "collector/recorder/thread_registry.h"

namespace culprit::collector::openmp::gomp {

namespace {

using Body = void(void*);
using Count = int();

constexpr int kTeam = static_cast<int>(ompt_parallel_team);
constexpr int kLeague = static_cast<int>(ompt_parallel_league);

struct Fork {
  uintptr_t* reductions;  ///< where the runtime looks for the region's reductions, in the body's
                          ///< data
  Body* body;
  void* data;
  ompt_data_t region;
  SharedWork work;  ///< the construct in which each thread is from the region's begin
  const void* code;
  uint64_t begun;  ///< when the region began
  bool alone;      ///< a team of one, with no other thread at the end; set by its thread
};

/// This thread has left the barrier at the region's end. `region`: nullptr if this is reported
/// late.
void end_barrier(ompt_data_t* region) {
  end_wait(ompt_sync_region_barrier_implicit_parallel, region, nullptr);
}

/// Whatever a worker does next, it has left its last region: records that.
void leave_last_team() {
  end_barrier(nullptr);
  g_events.implicit_task(ompt_scope_end, nullptr, nullptr, 0, 0, ompt_task_implicit);
}

/// Whether this thread's begin was recorded.
[[gnu::tls_model("initial-exec")]] constinit thread_local bool t_known = false;

void note_thread(ompt_thread_t kind) {
  if (t_known) return;
  t_known = true;
  if (kind == ompt_thread_worker) {
    registry::begin_pool_thread(real<"omp_get_level", Count>()() > 1);
  }
  g_events.thread_begin(kind, nullptr);
}

unsigned ask(Count* count) {
  return static_cast<unsigned>(count());
}

/// The body that the threads of a team run.
void run_body(void* argument) {
  Fork fork = *static_cast<const Fork*>(argument);
  const unsigned index = ask(real<"omp_get_thread_num", Count>());
  const unsigned size = ask(real<"omp_get_num_threads", Count>());
  note_thread(ompt_thread_worker);
  if (t_thread.arrived) leave_last_team();
  t_thread = {};
  t_moment = size == 1 ? fork.begun : 0;  // no thread had to be woken
  g_events.implicit_task(ompt_scope_begin, &fork.region, nullptr, size, index, ompt_task_implicit);
  t_moment = 0;
  if (fork.work.kind != SharedWork::kNone) begin_work(fork.work, fork.code);
  fork.body(fork.data);
  if (size == 1) {
    static_cast<Fork*>(argument)->alone = true;
    return;
  }
  begin_wait(ompt_sync_region_barrier_implicit_parallel, &fork.region, nullptr);
  t_thread.arrived = index != 0;
}

/// The body that the initial thread of each team of a league runs.
void run_league(void* argument) {
  Fork fork = *static_cast<const Fork*>(argument);
  const unsigned index = ask(real<"omp_get_team_num", Count>());
  const unsigned size = ask(real<"omp_get_num_teams", Count>());
  g_events.implicit_task(ompt_scope_begin, &fork.region, nullptr, size, index, ompt_task_initial);
  fork.body(fork.data);
  g_events.implicit_task(ompt_scope_end, &fork.region, nullptr, 0, index, ompt_task_initial);
}

/// Sets aside a thread's state while it is in a region that it forks: its loop, its task, and,
/// where the task runs at a region's end, that end.
class Inside {
 public:
  Inside() { t_thread = {}; }
  ~Inside() { t_thread = outer_; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  Thread outer_ = t_thread;
};

/// A region from the view of the thread that forks and joins it.
class GompRegion {
 public:
  GompRegion(Body* body, void* data, int kind, const void* code, SharedWork work = {})
      : fork_{nullptr, body, data, {0}, work, code, now(), false}, kind_(kind) {
    note_thread(ompt_thread_initial);
    t_moment = fork_.begun;
    g_events.parallel_begin(nullptr, nullptr, &fork_.region, 0, kind_, code);
    t_moment = 0;
  }
  ~GompRegion() {
    t_moment = now();
    if (kind_ == kLeague) {
      g_events.parallel_end(&fork_.region, nullptr, kind_, fork_.code);
    } else {
      if (!fork_.alone) end_barrier(&fork_.region);
      g_events.leave(&fork_.region, nullptr, kind_, fork_.code);
    }
    t_moment = 0;
  }
  GompRegion(const GompRegion&) = delete;
  GompRegion& operator=(const GompRegion&) = delete;
  Fork* fork() { return &fork_; }

 private:
  Fork fork_;
  int kind_;
};

template <Name name>
void parallel(Body* body, void* data, unsigned threads, unsigned flags) {
  const auto function = real<name, void(Body*, void*, unsigned, unsigned)>();
  const Inside inside;
  if (!is_recorded()) return function(body, data, threads, flags);
  GompRegion region(body, data, kTeam, __builtin_return_address(0));
  function(run_body, region.fork(), threads, flags);
}

/// The first word of the data describes the reductions; the runtime reads it there, too.
template <Name name>
unsigned parallel_reductions(Body* body, void* data, unsigned threads, unsigned flags) {
  const auto function = real<name, unsigned(Body*, void*, unsigned, unsigned)>();
  const Inside inside;
  if (!is_recorded()) return function(body, data, threads, flags);
  GompRegion region(body, data, kTeam, __builtin_return_address(0));
  memcpy(&region.fork()->reductions, data, sizeof(uintptr_t*));
  return function(run_body, region.fork(), threads, flags);
}

template <Name name>
void parallel_sections(Body* body, void* data, unsigned threads, unsigned count, unsigned flags) {
  const auto function = real<name, void(Body*, void*, unsigned, unsigned, unsigned)>();
  const Inside inside;
  if (!is_recorded()) return function(body, data, threads, count, flags);
  GompRegion region(body, data, kTeam, __builtin_return_address(0),
                    {ompt_work_sections, 1, static_cast<uint64_t>(count)});
  function(run_body, region.fork(), threads, count, flags);
}

/// `chunk`: the chunk's size, unless the environment decides it; and the flags.
template <Name name, unsigned kind, class... Chunk>
void parallel_loop(Body* body, void* data, unsigned threads, long begin, long end, long step,
                   Chunk... chunk) {
  const auto function = real<name, void(Body*, void*, unsigned, long, long, long, Chunk...)>();
  const Inside inside;
  if (!is_recorded()) return function(body, data, threads, begin, end, step, chunk...);
  GompRegion region(body, data, kTeam, __builtin_return_address(0),
                    {kind, step, iterations(begin, end, step)});
  function(run_body, region.fork(), threads, begin, end, step, chunk...);
}

/// The teams of the host, which libgomp runs one after the other on the calling thread.
template <Name name>
void teams(Body* body, void* data, unsigned teams, unsigned limit, unsigned flags) {
  const auto function = real<name, void(Body*, void*, unsigned, unsigned, unsigned)>();
  const Inside inside;
  const bool can_ask = real<"omp_get_team_num", Count>() != nullptr;
  if (!can_ask || !is_recorded()) return function(body, data, teams, limit, flags);
  GompRegion region(body, data, kLeague, __builtin_return_address(0));
  function(run_league, region.fork(), teams, limit, flags);
}

void on_thread_begun() {}

/// libgomp ends threads that the next team does not need, and those of nested teams.
void on_thread_ended() {
  if (t_thread.arrived) leave_last_team();
  t_thread.arrived = false;
}

}  // namespace

void watch_ends_of_threads() {
  static std::atomic<bool> done{false};
  if (done.exchange(true)) return;
  registry::add_hook({on_thread_begun, on_thread_ended, true});
}

void offer_regions(Match& match) {
  CULPRIT_OFFER("GOMP_parallel", parallel);
  CULPRIT_OFFER("GOMP_parallel_reductions", parallel_reductions);
  CULPRIT_OFFER("GOMP_parallel_sections", parallel_sections);
  CULPRIT_OFFER("GOMP_parallel_loop_static", parallel_loop, ompt_work_loop_static, long, unsigned);
  CULPRIT_OFFER("GOMP_parallel_loop_dynamic", parallel_loop, ompt_work_loop_dynamic, long,
                unsigned);
  CULPRIT_OFFER("GOMP_parallel_loop_guided", parallel_loop, ompt_work_loop_guided, long, unsigned);
  CULPRIT_OFFER("GOMP_parallel_loop_nonmonotonic_dynamic", parallel_loop, ompt_work_loop_dynamic,
                long, unsigned);
  CULPRIT_OFFER("GOMP_parallel_loop_nonmonotonic_guided", parallel_loop, ompt_work_loop_guided,
                long, unsigned);
  CULPRIT_OFFER("GOMP_parallel_loop_runtime", parallel_loop, ompt_work_loop_other, unsigned);
  CULPRIT_OFFER("GOMP_parallel_loop_nonmonotonic_runtime", parallel_loop, ompt_work_loop_other,
                unsigned);
  CULPRIT_OFFER("GOMP_parallel_loop_maybe_nonmonotonic_runtime", parallel_loop,
                ompt_work_loop_other, unsigned);
  CULPRIT_OFFER("GOMP_teams_reg", teams);
  match.note<"omp_get_thread_num">();
  match.note<"omp_get_num_threads">();
  match.note<"omp_get_team_num">();
  match.note<"omp_get_num_teams">();
}

}  // namespace culprit::collector::openmp::gomp
