// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Functions that were compiled with -finstrument-functions call these at their beginning and end.
// From the address of the frame the reader derives which functions a longjmp has left: they lie
// deeper in the stack than the next caller.
#include "collector/process/environment.h"
#include "collector/process/recorder.h"
#include "collector/process/selection.h"
#include "collector/user/filter.h"

namespace culprit::collector::user {

namespace {

ThreadLog* wanted_log(const void* function) {
  if (is_excluded(function) || !recording() || environment().without.functions) return nullptr;
  return thread_log();
}

}  // namespace

}  // namespace culprit::collector::user

extern "C" CULPRIT_EXPORT void __cyg_profile_func_enter(void* function, void* call_site) {
  using namespace culprit::collector;
  ThreadLog* log = user::wanted_log(function);
  if (log == nullptr) return;
  const auto frame = reinterpret_cast<uintptr_t>(__builtin_dwarf_cfa());
  log->put(now(), raw::func_enter{.frame = static_cast<uint32_t>(frame),
                                  .function = reinterpret_cast<uintptr_t>(function),
                                  .caller = reinterpret_cast<uintptr_t>(call_site)});
}

extern "C" CULPRIT_EXPORT void __cyg_profile_func_exit(void* function, void*) {
  using namespace culprit::collector;
  const uint64_t time = now();
  ThreadLog* log = user::wanted_log(function);
  if (log == nullptr) return;
  log->put(time, raw::func_leave{.function = reinterpret_cast<uintptr_t>(function)});
}
