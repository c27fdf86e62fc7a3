// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The calls that register tables go on to libgcc. Its locks are known by their addresses: they lie
// in its own data. Newer versions lock without calls, but only while they register something.
#include "collector/callpath/registered_frames.h"

#include <link.h>
#include <unwind.h>

#include <atomic>

#include "collector/process/next.h"
#include "collector/process/recorder.h"

namespace culprit::collector::registered_frames {
namespace {

std::atomic<bool> g_are_there{false};
std::atomic<uintptr_t> g_data_begin{0}, g_data_end{0};  ///< libgcc's
constinit thread_local unsigned t_locks __attribute__((tls_model("initial-exec"))) = 0;

constinit Next<void(void*)> g_frame("__register_frame");
constinit Next<void(void*)> g_table("__register_frame_table");
constinit Next<void(const void*, void*)> g_info("__register_frame_info");
constinit Next<void(void*, void*)> g_info_table("__register_frame_info_table");
constinit Next<void(const void*, void*, void*, void*)> g_bases("__register_frame_info_bases");
constinit Next<void(void*, void*, void*, void*)> g_table_bases("__register_frame_info_table_bases");
constinit Next<void(void*)> g_end_frame("__deregister_frame");
constinit Next<void*(const void*)> g_end_info("__deregister_frame_info");
constinit Next<void*(const void*)> g_end_bases("__deregister_frame_info_bases");

template <class Result, class... Arguments>
Result pass_on(Next<Result(Arguments...)>& next, Arguments... arguments) {
  struct Locked {
    Locked() { begin_lock(); }
    ~Locked() { end_lock(); }
  } const locked;
  g_are_there.store(true, std::memory_order_relaxed);
  auto* const function = next.get();
  return function != nullptr ? function(arguments...) : Result();
}

/// Notes the data of the file that has the unwinder.
int look_at(dl_phdr_info* info, size_t, void*) {
  const auto code = reinterpret_cast<uintptr_t>(&_Unwind_Backtrace);
  uintptr_t begin = 0, end = 0;
  bool is_it = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    const uintptr_t at = info->dlpi_addr + part.p_vaddr;
    is_it = is_it || (code >= at && code - at < part.p_memsz);
    if ((part.p_flags & PF_W) == 0) continue;
    begin = at;
    end = at + part.p_memsz;
  }
  if (!is_it) return 0;
  g_data_begin.store(begin, std::memory_order_relaxed);
  g_data_end.store(end, std::memory_order_relaxed);
  return 1;
}

}  // namespace

void find_unwinder() {
  dl_iterate_phdr(look_at, nullptr);
}

bool are_there() {
  return g_are_there.load(std::memory_order_relaxed);
}

bool is_unwinders(const void* lock) {
  if (!are_there()) return false;
  const auto at = reinterpret_cast<uintptr_t>(lock);
  return at >= g_data_begin.load(std::memory_order_relaxed) &&
         at < g_data_end.load(std::memory_order_relaxed);
}

void begin_lock() {
  t_locks = t_locks + 1;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

// A lock may have been taken before there were tables.
void end_lock() {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (t_locks > 0) t_locks = t_locks - 1;
}

bool may_be_locked() {
  return t_locks > 0;
}

}  // namespace culprit::collector::registered_frames

extern "C" {

using namespace culprit::collector::registered_frames;

CULPRIT_EXPORT void __register_frame(void* begin) {
  pass_on(g_frame, begin);
}

CULPRIT_EXPORT void __register_frame_table(void* begin) {
  pass_on(g_table, begin);
}

CULPRIT_EXPORT void __register_frame_info(const void* begin, void* object) {
  pass_on(g_info, begin, object);
}

CULPRIT_EXPORT void __register_frame_info_table(void* begin, void* object) {
  pass_on(g_info_table, begin, object);
}

CULPRIT_EXPORT void __register_frame_info_bases(const void* begin, void* object, void* text,
                                                void* data) {
  pass_on(g_bases, begin, object, text, data);
}

CULPRIT_EXPORT void __register_frame_info_table_bases(void* begin, void* object, void* text,
                                                      void* data) {
  pass_on(g_table_bases, begin, object, text, data);
}

CULPRIT_EXPORT void __deregister_frame(void* begin) {
  pass_on(g_end_frame, begin);
}

CULPRIT_EXPORT void* __deregister_frame_info(const void* begin) {
  return pass_on(g_end_info, begin);
}

CULPRIT_EXPORT void* __deregister_frame_info_bases(const void* begin) {
  return pass_on(g_end_bases, begin);
}

}  // extern "C"
