// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Logs are made at a thread's first event, of whatever kind: runtimes do not announce all threads.
// They end with the thread, as late as the system allows, because OpenMP's own thread-end event
// comes from such a destructor too.
#include "collector/thread_registry.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>

#include "collector/lifecycle.h"
#include "collector/process_record.h"
#include "collector/system_file.h"
#include "collector/thread_log.h"

namespace culprit::collector {

namespace {

enum class Phase : uint8_t { fresh, setting_up, live, dead };

struct ThreadState {
  ThreadLog* log;
  std::atomic<bool>* busy;  ///< of `log`
  Phase phase;
};

constinit thread_local ThreadState t_state
    __attribute__((tls_model("initial-exec"))) = {nullptr, nullptr, Phase::fresh};

constexpr uint32_t kMaxThreads = 1u << 16;
/// Of the destructors of a thread's data: we end in the last.
#if defined(__SANITIZE_THREAD__)
constexpr uintptr_t kRounds = PTHREAD_DESTRUCTOR_ITERATIONS - 1;  // the last is the sanitizer's end
#else
constexpr uintptr_t kRounds = PTHREAD_DESTRUCTOR_ITERATIONS;
#endif
constexpr unsigned kMaxHooks = 4;

const char* g_folder = nullptr;
pthread_key_t g_key;
ThreadHook g_hooks[kMaxHooks];
unsigned g_hook_count = 0;

void end_thread() {
  ThreadState& thread = t_state;
  // In a forked child the files are the parent's.
  if (thread.phase != Phase::live || !lifecycle::is_active()) return;
  for (unsigned i = 0; i < g_hook_count; ++i) g_hooks[i].ended();
  thread.phase = Phase::dead;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  Recorder::destroy(thread.log);
  thread.log = nullptr;
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

bool is_loading_thread() {
  return syscall(SYS_gettid) == getpid();
}

ThreadLog* create_log(ThreadState& thread) {
  const KeepErrno keep;
  thread.phase = Phase::setting_up;
  auto* record = process();
  const uint32_t number =
      is_loading_thread()
          ? 0
          : std::atomic_ref<uint32_t>(record->thread_count).fetch_add(1, std::memory_order_relaxed);
  thread.log = number < kMaxThreads ? Recorder::create(g_folder, number) : nullptr;
  if (thread.log == nullptr) {
    thread.phase = Phase::dead;
    tally(&trace::RawProcess::dropped_records);
    return nullptr;
  }
  thread.busy = &Recorder::impl(*thread.log).busy;
  pthread_setspecific(g_key, reinterpret_cast<void*>(kRounds));
  std::atomic_signal_fence(std::memory_order_seq_cst);
  thread.phase = Phase::live;
  for (unsigned i = 0; i < g_hook_count; ++i) g_hooks[i].begun();
  return thread.log;
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
  return &storage->log;
}

ThreadLog* Recorder::create_scratch() {
  Storage* storage = allocate();
  if (storage == nullptr) return nullptr;
  storage->impl.open_scratch();
  return &storage->log;
}

void Recorder::destroy(ThreadLog* log) {
  if (log == nullptr) return;
  log->impl_->close();
  unmap_memory(log, sizeof(Storage));  // the log is the storage's first member
}

namespace registry {

bool begin(const char* folder) {
  g_folder = folder;
  return pthread_key_create(&g_key, on_thread_exit) == 0;
}

void add_hook(const ThreadHook& hook) {
  if (g_hook_count < kMaxHooks) g_hooks[g_hook_count++] = hook;
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
  } else if (thread.phase == Phase::fresh) {
    return create_log(thread);
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
  return t_state.phase == Phase::setting_up;
}

void set_setting_up(bool value) {
  if (t_state.phase == Phase::live || t_state.phase == Phase::dead) return;
  t_state.phase = value ? Phase::setting_up : Phase::fresh;
}

}  // namespace registry

}  // namespace culprit::collector
