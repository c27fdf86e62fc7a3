// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The process's life as the recorder sees it: inert until a probe activates it, active, then ended
// by exit or by being the child of a recorded process. Nothing is ever torn down: other threads may
// be anywhere when the process exits, so they only find that recording is over. The records are
// safe already.
#include "collector/process/recorder.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>

#include "base/launch/launchers.h"
#include "collector/bursts/cuts.h"
#include "collector/bursts/governor.h"
#include "collector/bursts/node_page.h"
#include "collector/bursts/profile_file.h"
#include "collector/callpath/generated_objects.h"
#include "collector/callpath/python_names.h"
#include "collector/callpath/unwind.h"
#include "collector/process/clock.h"
#include "collector/process/code_map.h"
#include "collector/process/environment.h"
#include "collector/process/lifecycle.h"
#include "collector/process/process_record.h"
#include "collector/process/selection.h"
#include "collector/process/system_file.h"
#include "collector/recorder/calibration.h"
#include "collector/recorder/core_use.h"
#include "collector/recorder/log_file.h"
#include "collector/recorder/thread_registry.h"

namespace culprit::collector {

namespace {

enum class Mode : uint32_t {
  inert,  ///< no probe has seen anything yet
  activating,
  active,
  impossible,  ///< not wanted, or the experiment cannot be written
  ended,       ///< after exit: later events are no part of the run
  confined,    ///< ended, and no further system call may be made
  forked,      ///< a child: the record belongs to the parent
};

std::atomic<Mode> g_mode{Mode::inert};
trace::RawProcess* g_record = nullptr;
trace::RawClockPair g_load{};
char g_folder[PATH_MAX];
std::atomic<uint32_t> g_refused_probes{0};
std::atomic<bool> g_early{false};  ///< threads are watched while inert
std::atomic<pid_t> g_child{0};     ///< this process's id, if it was forked and has begun anew

bool make_process_folder(const char* experiment) {
  char host[64] = {};
  gethostname(host, sizeof host - 1);
  make_folder(experiment);
  char raw[PATH_MAX + 8];
  snprintf(raw, sizeof raw, "%s/raw", experiment);
  if (!make_folder(raw)) return false;
  const int length =
      snprintf(g_folder, sizeof g_folder, "%s/%s.%ld.%llx", raw, host, static_cast<long>(getpid()),
               static_cast<unsigned long long>(g_load.ticks));
  // Leaves room for the longest name of a file inside.
  return length > 0 && length + 32 < PATH_MAX && make_folder(g_folder);
}

//  --- Children that are forked and go on with the program --------------------------------------
//
// A program that forks in order to execute another program does so at once; a child that still
// exists some time later works for its parent, or beside it, as a pool's workers do, and both are
// worth recording. Until then their samples are kept in memory.

/// Shared by a process, its children and theirs, in memory that all of them map.
struct Family {
  std::atomic<uint32_t> works;  ///< a child has turned out to be a worker
};
Family* g_family = nullptr;
std::atomic<uint64_t> g_forked_ns{0};  ///< time of this process's fork, by CLOCK_MONOTONIC; 0: it
                                       ///< was not forked
constexpr uint64_t kSoonExecutes_ns = 10'000'000;

Family* map_family() {
  void* memory =
      mmap(nullptr, sizeof(Family), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Family*>(memory);
}

uint64_t monotonic_ns() {
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

void begin_as_child() {
  const bool is_rank = environment().launcher_rank >= 0;
  if (!environment().wanted || is_rank || !code_map::is_there()) return;
  g_forked_ns.store(monotonic_ns(), std::memory_order_relaxed);
  g_child.store(getpid(), std::memory_order_relaxed);
  g_early.store(true, std::memory_order_release);
}

/// Whether a process that records nothing yet has become worth recording.
bool has_become_worthwhile() {
  const uint64_t forked_ns = g_forked_ns.load(std::memory_order_relaxed);
  if (forked_ns != 0) {
    // A child of vfork shares all of this with its parent.
    return g_child.load(std::memory_order_relaxed) == getpid() &&
           monotonic_ns() >= forked_ns + kSoonExecutes_ns;
  }
  return g_family != nullptr && g_family->works.load(std::memory_order_relaxed) != 0;
}

/// A child made without fork's handlers (clone) shares the mapped files with its parent.
bool is_recorded_process() {
  return g_record->pid == static_cast<uint32_t>(getpid());
}

/// MPI and its ranks are the parent's alone; and what a launcher has started is a rank, or is to
/// become one.
bool keeps_children_unrecorded(const trace::RawProcess& record) {
  const bool knows_mpi = record.world_rank >= 0 || record.mpi_library[0] != '\0';
  const bool knows_openmp = record.omp_runtime[0] != '\0' || record.gomp_redirected != 0;
  return knows_mpi || (knows_openmp && environment().launcher_rank >= 0);
}

/// If nothing was recorded before the fork, or nothing of MPI was, the child itself may be worth
/// recording: it starts a run of its own here.
void in_forked_child() {
  const Mode mode = g_mode.load(std::memory_order_relaxed);
  if (mode == Mode::impossible) return;
  python::forget_descriptions();
  if (mode == Mode::active && !keeps_children_unrecorded(*g_record)) {
    registry::forget_logs();
    forget_core_use();
    cuts::forget();
    profile_file::forget();
    governor::forget();
    g_record = nullptr;
    g_load = clock::read_pair();
    g_mode.store(Mode::inert, std::memory_order_relaxed);
    begin_as_child();
  } else if (mode == Mode::inert) {
    registry::drop_early_logs();
    g_load = clock::read_pair();
    begin_as_child();
  } else {
    g_mode.store(Mode::forked, std::memory_order_relaxed);
  }
}

/// Called before the first fork by a program that is not recorded: its children may turn out to be
/// workers.
void before_fork() {
  if (g_mode.load(std::memory_order_relaxed) != Mode::inert || g_family != nullptr) return;
  if (!environment().wanted || environment().launcher_rank >= 0) return;
  if (starts_others(program_invocation_short_name)) return;
  g_family = map_family();
  if (g_family != nullptr && !g_early.load(std::memory_order_relaxed)) lifecycle::begin_early();
}

bool set_up() {
  const Environment& wishes = environment();
  if (!wishes.wanted) return false;
  lifecycle::load();
  if (!make_process_folder(wishes.experiment)) return false;
  g_record = create_process_record(g_folder, g_load);
  if (g_record == nullptr) return false;
  node::begin(wishes.experiment, *g_record);
  cuts::begin(g_folder, g_record->start_ticks);
  registry::begin(g_folder);
  g_record->thread_count = 1;  // number 0 is the loading thread's, whether or not it records
  warm_up_unwinder();
  code_map::begin(g_folder);
  code_map::loaded_more();
  // Not in a forked child, which inherits its parent's findings: it may get here from a handler.
  if (!lifecycle::is_forked()) python::find();
  calibrate(*g_record);
  python::forget_descriptions();  // some descriptions are in the log that calibration has thrown
                                  // away
  begin_core_use();
  return true;
}

/// The one thread that found the recorder inert sets it up; events that this causes are ignored.
bool activate_first() {
  const KeepErrno keep;
  registry::set_setting_up(true);
  const bool possible = set_up();
  if (possible) registry::settle_parked_logs();
  // This comes late: no log existed yet for events that switched recording before.
  if (possible) g_record->starts_off = recording() ? 0 : 1;
  if (possible) g_record->refused_probes = g_refused_probes.load();
  if (possible) take_snapshot();
  registry::set_setting_up(false);
  g_mode.store(possible ? Mode::active : Mode::impossible, std::memory_order_release);
  return possible;
}

}  // namespace

namespace lifecycle {

void load() {
  if (g_load.ticks != 0) return;
  clock::choose(environment().clock == "monotonic");
  registry::load();
  g_load = clock::read_pair();
  selection::load(g_load);
  // As early as possible: children call such handlers in the order of their registration, and an
  // OpenMP runtime's own already sends events.
  pthread_atfork(before_fork, nullptr, in_forked_child);
}

void begin_early() {
  warm_up_unwinder();
  code_map::refresh();
  g_early.store(true, std::memory_order_release);
}

bool may_begin_early() {
  return g_mode.load(std::memory_order_acquire) == Mode::inert &&
         !g_early.load(std::memory_order_relaxed) && environment().wanted;
}

bool is_watching() {
  const Mode mode = g_mode.load(std::memory_order_acquire);
  return mode == Mode::active || (mode == Mode::inert && g_early.load(std::memory_order_relaxed));
}

static ThreadLog* log_as_it_is() {
  const Mode mode = g_mode.load(std::memory_order_acquire);
  if (mode != Mode::active && !is_watching()) return nullptr;
  if (registry::is_own_thread()) return registry::log_of_own_thread(mode != Mode::active);
  return registry::existing_log();
}

ThreadLog* watched_log() {
  activate_if_worthwhile();
  return log_as_it_is();
}

ThreadLog* watched_log_in_signal() {
  if (registry::hooks_are_signal_safe()) return log_as_it_is();
  if (!is_watching()) return nullptr;
  if (registry::is_own_thread()) return registry::log_of_own_thread(true);
  return registry::existing_log();
}

void end() {
  activate_if_worthwhile();
  Mode expected = Mode::active;
  if (g_mode.load(std::memory_order_relaxed) != expected || !is_recorded_process()) return;
  const KeepErrno keep;
  registry::call_end_hooks();
  checkpoint();
  keep_generated_objects(g_folder);
  const uint64_t time = now();
  if (ThreadLog* log = watched_log()) {
    put_cpu_time(*log);
    if (log->counting) log->count(time);
    log->put(time, raw::process_end{});
    Recorder::end_window(*log);
  }
  cuts::finish(time);
  tally(&trace::RawProcess::dropped_records, LogFile::write_all());
  take_snapshot(Moment::exit, time);
  g_mode.compare_exchange_strong(expected, Mode::ended);
}

bool is_forked() {
  return g_forked_ns.load(std::memory_order_relaxed) != 0 &&
         g_child.load(std::memory_order_relaxed) == getpid();
}

void stop_at_confinement() {
  Mode expected = Mode::active;
  if (g_mode.compare_exchange_strong(expected, Mode::confined)) {
    take_snapshot();
  } else if (expected == Mode::inert) {
    g_mode.compare_exchange_strong(expected, Mode::impossible);
  }
}

bool is_active() {
  return g_mode.load(std::memory_order_acquire) == Mode::active;
}

}  // namespace lifecycle

ThreadLog* thread_log() {
  const bool active = g_mode.load(std::memory_order_acquire) == Mode::active;
  return active ? registry::log_of_this_thread() : nullptr;
}

ThreadLog* make_extra_log() {
  return lifecycle::is_active() ? registry::make_extra_log() : nullptr;
}

extern "C" bool culprit_takes_probe(uint32_t raw_version) {
  if (raw_version == trace::kRawVersion) return true;
  const uint32_t refused = g_refused_probes.fetch_add(1) + 1;
  if (lifecycle::is_active()) g_record->refused_probes = refused;
  return false;
}

bool is_active() {
  return lifecycle::is_active();
}

bool activate() {
  Mode mode = g_mode.load(std::memory_order_acquire);
  if (mode == Mode::inert && g_mode.compare_exchange_strong(mode, Mode::activating)) {
    return activate_first();
  }
  while (mode == Mode::activating) {
    if (registry::is_setting_up()) return false;
    sched_yield();
    mode = g_mode.load(std::memory_order_acquire);
  }
  return mode == Mode::active;
}

void lifecycle::activate_if_worthwhile() {
  if (g_mode.load(std::memory_order_relaxed) != Mode::inert || registry::is_setting_up()) return;
  if (!has_become_worthwhile()) return;
  const bool active = activate();
  if (active && g_family != nullptr) g_family->works.store(1, std::memory_order_relaxed);
}

void lifecycle::activate_for_threads() {
  if (g_mode.load(std::memory_order_acquire) == Mode::inert) activate();
}

void lifecycle::activate_for_sharing() {
  if (starts_others(program_invocation_short_name)) return;
  activate_for_threads();
}

trace::RawProcess* process() {
  const Mode mode = g_mode.load(std::memory_order_acquire);
  return mode == Mode::forked || mode == Mode::impossible ? nullptr : g_record;
}

void checkpoint() {
  const KeepErrno keep;
  if (!lifecycle::is_active()) {
    // MPI may be finalized by a library's destructor, after everything else.
    const bool ended = g_mode.load(std::memory_order_relaxed) == Mode::ended;
    if (ended && is_recorded_process()) take_snapshot();
    return;
  }
  registry::call_checkpoint_hooks();
  refresh_clock_pair();
  refresh_core_use(lifecycle::watched_log());
  if (code_map::loaded_more()) code_map::refresh();
  LogFile::write_all();
  take_snapshot();  // includes the facts found since
}

}  // namespace culprit::collector
