// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Logs are made at a thread's first event, of whatever kind: runtimes do not announce all threads.
// They end with the thread, as late as the system allows, because OpenMP's own thread-end event
// comes from such a destructor too. Making one costs files and mappings, more than many a thread's
// whole life: the log of one of the program's own threads is continued by the next of them, and the
// reader sees one thread. The same holds for threads of a pool.
#include "collector/recorder/thread_registry.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>

#include "collector/process/environment.h"
#include "collector/process/lifecycle.h"
#include "collector/process/process_record.h"
#include "collector/process/system_file.h"
#include "collector/recorder/thread_log.h"

namespace culprit::collector {

namespace {

/// `early`: the log lies in memory alone.
enum class Phase : uint8_t { fresh, setting_up, early, live, dead };

struct ThreadState {
  ThreadLog* log;
  std::atomic<bool>* busy;  ///< the busy flag of `log`
  uint64_t begun;           ///< ticks; set for the program's own threads
  uintptr_t function;       ///< the function that the thread runs
  Phase phase;
  bool own;
  uint16_t pool;  ///< kRawPoolThread, kRawNestedThread: an OpenMP runtime's, which ends its threads
  bool sets_up;   ///< it is setting up the collector
};

constinit thread_local ThreadState t_state __attribute__((tls_model("initial-exec"))) = {
    nullptr, nullptr, 0, 0, Phase::fresh, false, 0, false};

constexpr uint32_t kMaxThreads = 1u << 16;
constexpr unsigned kMaxHooks = 4;

/// Early logs of threads that have ended.
std::atomic<ThreadLog*> g_parked[64];

/// Logs of threads that have ended, for later threads of the same sort: the program's own, and
/// those of pools.
using Resting = std::atomic<ThreadLog*>[1024];
Resting g_resting[3];

/// Whether its begin and end are recorded, and another thread may continue its log.
bool comes_and_goes(const ThreadState& thread) {
  return thread.own || thread.pool != 0;
}

Resting& resting_like(const ThreadState& thread) {
  return g_resting[thread.pool];
}

const char* g_folder = nullptr;
/// Made at load, so that its number is low and setting its value allocates nothing.
pthread_key_t g_key;
bool g_has_key = false;
/// Rounds of destructors of a thread's data: the log ends in the last.
uintptr_t g_rounds = PTHREAD_DESTRUCTOR_ITERATIONS;
ThreadHook g_hooks[kMaxHooks];
unsigned g_hook_count = 0;

bool is_loading_thread() {
  return syscall(SYS_gettid) == getpid();
}

/// False if the thread is in another phase (a signal may have come first).
bool claim(ThreadState& thread, Phase from, Phase to) {
  return std::atomic_ref<Phase>(thread.phase).compare_exchange_strong(from, to);
}

uint32_t next_number() {
  if (is_loading_thread()) return 0;
  return std::atomic_ref<uint32_t>(process()->thread_count).fetch_add(1, std::memory_order_relaxed);
}

/// Records the system's number of the thread, which links its statistics, and the sleeps that
/// others saw from `since` on, with its records.
void note_number(const ThreadState& thread, uint64_t since) {
  const long number = syscall(SYS_gettid);
  if (number == getpid()) return;
  thread.log->put(since, raw::thread_id{.tid = static_cast<uint64_t>(number),
                                        .handle = static_cast<uint64_t>(pthread_self())});
}

void be_live(ThreadState& thread, uint64_t since) {
  note_number(thread, since);
  thread.busy = &Recorder::impl(*thread.log).busy;
  if (!thread.own) pthread_setspecific(g_key, reinterpret_cast<void*>(g_rounds));
  std::atomic_signal_fence(std::memory_order_seq_cst);
  thread.phase = Phase::live;
}

ThreadLog* be_dead(ThreadState& thread) {
  thread.log = nullptr;
  thread.phase = Phase::dead;
  tally(&trace::RawProcess::dropped_records);
  return nullptr;
}

void note_begin(const ThreadState& thread) {
  if (!comes_and_goes(thread) || is_loading_thread()) return;
  thread.log->put(thread.begun,
                  raw::thread_begun{.kind = thread.pool, .function = thread.function});
}

/// Puts the log where another thread may take it. False if there is no room, or it is of no use.
bool rest(const ThreadState& thread, ThreadLog* log) {
  log->waiting = 0;
  log->close(RawSlot::wait);  // left open by a thread that was cancelled in a wait
  log->counting = false;
  log->close(RawSlot::call);
  log->close(RawSlot::wait);
  if (!Recorder::impl(*log).rest()) return false;
  for (std::atomic<ThreadLog*>& place : resting_like(thread)) {
    ThreadLog* nobody = nullptr;
    if (place.compare_exchange_strong(nobody, log)) return true;
  }
  return false;
}

/// A log whose threads have all ended when this one began: times in it do not decrease.
ThreadLog* take_resting(const ThreadState& thread) {
  if (!comes_and_goes(thread)) return nullptr;
  for (std::atomic<ThreadLog*>& place : resting_like(thread)) {
    if (place.load(std::memory_order_relaxed) == nullptr) continue;
    ThreadLog* const log = place.exchange(nullptr);
    if (log == nullptr) continue;
    if (Recorder::impl(*log).last_time <= thread.begun) return log;
    ThreadLog* nobody = nullptr;
    if (!place.compare_exchange_strong(nobody, log)) Recorder::destroy(log);
  }
  return nullptr;
}

ThreadLog* make_log() {
  const uint32_t number = next_number();
  return number < kMaxThreads ? Recorder::create(g_folder, number) : nullptr;
}

ThreadLog* create_log(ThreadState& thread) {
  const KeepErrno keep;
  if (!claim(thread, Phase::fresh, Phase::setting_up)) return registry::existing_log();
  thread.log = take_resting(thread);
  if (thread.log == nullptr) thread.log = make_log();
  if (thread.log == nullptr) return be_dead(thread);
  note_begin(thread);
  be_live(thread, comes_and_goes(thread) ? thread.begun : now());
  for (unsigned i = 0; i < g_hook_count; ++i) {
    if (g_hooks[i].begun != nullptr) g_hooks[i].begun();
  }
  return thread.log;
}

/// Makes a log without files. No hook is called yet.
ThreadLog* create_early_log(ThreadState& thread) {
  const KeepErrno keep;
  if (!claim(thread, Phase::fresh, Phase::setting_up)) return nullptr;
  thread.log = Recorder::create_scratch();
  if (thread.log == nullptr) {
    thread.phase = Phase::fresh;  // the thread may try again later
    return nullptr;
  }
  note_begin(thread);
  thread.busy = &Recorder::impl(*thread.log).busy;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  thread.phase = Phase::early;
  return thread.log;
}

/// Gives an early log its files.
ThreadLog* settle_log(ThreadState& thread) {
  const KeepErrno keep;
  if (!claim(thread, Phase::early, Phase::setting_up)) return registry::existing_log();
  const uint32_t number = next_number();
  if (number >= kMaxThreads) {
    Recorder::destroy(thread.log);
    return be_dead(thread);
  }
  Recorder::settle(*thread.log, g_folder, number);
  be_live(thread, now());
  for (unsigned i = 0; i < g_hook_count; ++i) {
    if (g_hooks[i].begun != nullptr) g_hooks[i].begun();
  }
  return thread.log;
}

bool is_busy(const ThreadState& thread) {
  return thread.busy->load(std::memory_order_relaxed);
}

bool park(ThreadLog* log) {
  for (std::atomic<ThreadLog*>& place : g_parked) {
    ThreadLog* nobody = nullptr;
    if (place.compare_exchange_strong(nobody, log)) return true;
  }
  return false;
}

void tell_ended() {
  for (unsigned i = 0; i < g_hook_count; ++i) g_hooks[i].ended();
}

void end_live_thread(ThreadState& thread) {
  tell_ended();
  const bool told = comes_and_goes(thread) && !is_loading_thread();
  if (told) thread.log->put(now(), raw::thread_ended{.kind = thread.pool});
  thread.phase = Phase::dead;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  ThreadLog* const log = thread.log;
  thread.log = nullptr;
  // Counters belong to one thread, and begin anew with each.
  const bool may_rest = told && environment().counters[0] == '\0';
  if (!may_rest || !rest(thread, log)) Recorder::destroy(log);
}

/// Whether this is one of the program's own threads that had no event at all, but lived so long
/// that it must have slept: the watcher has seen where.
bool has_slept_unnoticed(const ThreadState& thread) {
  constexpr uint64_t kLongTicks = 20'000'000;  // between 5 and 20 ms, as kShortestTicks
  if (thread.phase != Phase::fresh || !thread.own || !lifecycle::is_active()) return false;
  return now() - thread.begun >= kLongTicks;
}

void end_thread() {
  ThreadState& thread = t_state;
  if (has_slept_unnoticed(thread)) create_log(thread);
  if (thread.phase == Phase::early && lifecycle::is_active()) settle_log(thread);
  if (thread.phase == Phase::live) {
    // In a forked child the files are the parent's.
    if (lifecycle::is_active()) end_live_thread(thread);
    return;
  }
  const bool early = claim(thread, Phase::early, Phase::dead);
  if (!early && !claim(thread, Phase::fresh, Phase::dead)) return;
  tell_ended();
  if (!early) return;
  if (!is_loading_thread()) thread.log->put(now(), raw::thread_ended{});
  if (!park(thread.log)) Recorder::destroy(thread.log);
}

/// Setting the value again asks for another round of destructors, until the last that the system
/// grants.
void on_thread_exit(void* rounds) {
  const auto left = reinterpret_cast<uintptr_t>(rounds);
  if (left > 1) {
    pthread_setspecific(g_key, reinterpret_cast<void*>(left - 1));
  } else {
    end_thread();
  }
}

}  // namespace

struct Recorder::Storage {
  ThreadLog log;
  ThreadLog::Impl impl;
};

Recorder::Storage* Recorder::allocate() {
  void* memory = map_memory(sizeof(Storage));
  if (memory == nullptr) return nullptr;
  auto* storage = new (memory) Storage;
  storage->log.impl_ = &storage->impl;
  return storage;
}

ThreadLog* Recorder::create(const char* folder, uint32_t number) {
  Storage* storage = allocate();
  if (storage == nullptr) return nullptr;
  storage->impl.open(folder, number);
  storage->log.number = number;
  storage->log.open_ = storage->impl.file.open_slots();
  return &storage->log;
}

ThreadLog* Recorder::create_scratch() {
  Storage* storage = allocate();
  if (storage == nullptr) return nullptr;
  storage->impl.open_scratch();
  storage->log.open_ = storage->impl.file.open_slots();
  return &storage->log;
}

void Recorder::settle(ThreadLog& log, const char* folder, uint32_t number) {
  log.open_ = nullptr;
  log.impl_->settle(folder, number);
  log.number = number;
  log.open_ = log.impl_->file.open_slots();
}

void Recorder::end_window(ThreadLog& log) {
  log.impl_->end_window();
}

void Recorder::destroy(ThreadLog* log) {
  if (log == nullptr || !log->impl_->close()) return;
  unmap_memory(log, sizeof(Storage));  // the log is the storage's first member
}

namespace registry {

void load() {
  // In the last round ThreadSanitizer forgets the thread; its functions may not be called after.
  if (dlsym(RTLD_DEFAULT, "__tsan_init") != nullptr) --g_rounds;
  g_has_key = pthread_key_create(&g_key, on_thread_exit) == 0;
}

void begin(const char* folder) {
  g_folder = folder;
}

void begin_own_thread(uintptr_t function) {
  ThreadState& thread = t_state;
  if (!g_has_key || thread.own || thread.phase != Phase::fresh) return;
  thread.begun = now();
  thread.function = function;
  pthread_setspecific(g_key, reinterpret_cast<void*>(g_rounds));
  thread.own = true;
}

bool is_own_thread() {
  return t_state.own;
}

void begin_pool_thread(bool nested) {
  ThreadState& thread = t_state;
  if (thread.own || thread.phase != Phase::fresh) return;
  thread.begun = now();
  thread.pool = nested ? trace::kRawNestedThread : trace::kRawPoolThread;
}

ThreadLog* log_of_own_thread(bool early) {
  ThreadState& thread = t_state;
  switch (thread.phase) {
    case Phase::fresh:
      if (!thread.own) return nullptr;
      return early ? create_early_log(thread) : create_log(thread);
    case Phase::early:
      if (is_busy(thread)) return nullptr;
      return early ? thread.log : settle_log(thread);
    case Phase::live:
      return is_busy(thread) ? nullptr : thread.log;
    default:
      return nullptr;
  }
}

bool hooks_are_signal_safe() {
  for (unsigned i = 0; i < g_hook_count; ++i) {
    if (!g_hooks[i].begun_is_signal_safe) return false;
  }
  return true;
}

void settle_parked_logs() {
  for (std::atomic<ThreadLog*>& place : g_parked) {
    ThreadLog* const log = place.exchange(nullptr);
    if (log == nullptr) continue;
    const uint32_t number =
        std::atomic_ref<uint32_t>(process()->thread_count).fetch_add(1, std::memory_order_relaxed);
    if (number < kMaxThreads) Recorder::settle(*log, g_folder, number);
    Recorder::destroy(log);
  }
}

void drop_early_logs() {
  for (std::atomic<ThreadLog*>& place : g_parked) Recorder::destroy(place.exchange(nullptr));
  ThreadState& thread = t_state;
  if (thread.phase != Phase::early) return;
  Recorder::destroy(thread.log);
  thread.log = nullptr;
  thread.phase = Phase::fresh;
}

void forget_logs() {
  drop_early_logs();
  for (Resting& resting : g_resting) {
    for (std::atomic<ThreadLog*>& place : resting) place.store(nullptr, std::memory_order_relaxed);
  }
  ThreadState& thread = t_state;
  thread.log = nullptr;
  thread.phase = Phase::fresh;
}

void add_hook(const ThreadHook& hook) {
  if (g_hook_count < kMaxHooks) g_hooks[g_hook_count++] = hook;
}

void call_checkpoint_hooks() {
  for (unsigned i = 0; i < g_hook_count; ++i) {
    if (g_hooks[i].checkpoint != nullptr) g_hooks[i].checkpoint();
  }
}

void call_end_hooks() {
  for (unsigned i = 0; i < g_hook_count; ++i) {
    if (g_hooks[i].process_ends != nullptr) g_hooks[i].process_ends();
  }
}

ThreadLog* existing_log() {
  const ThreadState& thread = t_state;
  if (thread.phase != Phase::live || thread.busy->load(std::memory_order_relaxed)) return nullptr;
  return thread.log;
}

ThreadLog* log_of_this_thread() {
  ThreadState& thread = t_state;
  if (thread.phase == Phase::live) [[likely]] {
    if (!thread.busy->load(std::memory_order_relaxed)) [[likely]]
      return thread.log;
  } else if (thread.phase == Phase::fresh && g_has_key) {
    return create_log(thread);
  } else if (thread.phase == Phase::early && !is_busy(thread)) {
    return settle_log(thread);
  }
  tally(&trace::RawProcess::skipped_callbacks);
  return nullptr;
}

ThreadLog* make_extra_log() {
  const KeepErrno keep;
  const uint32_t number =
      std::atomic_ref<uint32_t>(process()->thread_count).fetch_add(1, std::memory_order_relaxed);
  return number < kMaxThreads ? Recorder::create(g_folder, number) : nullptr;
}

bool is_setting_up() {
  return t_state.sets_up || t_state.phase == Phase::setting_up;
}

void set_setting_up(bool value) {
  t_state.sets_up = value;
}

}  // namespace registry

}  // namespace culprit::collector
