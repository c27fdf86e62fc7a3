// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The walk itself. Assumes that code has unwind tables, as all x86-64 and aarch64 Linux compilers
// emit; where they are missing the path ends there and hangs under the root.
#include "collector/callpath/unwind.h"

#include <dlfcn.h>
#include <unwind.h>

namespace culprit::collector {

namespace {

struct Walk {
  Frames& frames;
  uintptr_t start;  ///< frames before this one are the collector's or the signal's
  bool start_is_pc;
  bool started = false;
};

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
  auto& walk = *static_cast<Walk*>(argument);
  int interrupted = 0;
  const uintptr_t address = _Unwind_GetIPInfo(context, &interrupted);
  const uintptr_t cfa = _Unwind_GetCFA(context);
  if (!walk.started) {
    walk.started = (walk.start_is_pc ? address : cfa) == walk.start;
    if (!walk.started) return _URC_NO_REASON;
  }
  if (address == 0) return _URC_END_OF_STACK;
  if (walk.frames.count == Frames::kMaxDepth) {
    walk.frames.cut = true;
    return _URC_END_OF_STACK;
  }
  walk.frames.at[walk.frames.count++] = {address + (interrupted != 0 ? 1 : 0), cfa};
  return _URC_NO_REASON;
}

void walk_stack(Frames& frames, uintptr_t start, bool start_is_pc) {
  frames.count = 0;
  frames.cut = false;
  Walk walk{frames, start, start_is_pc};
  _Unwind_Backtrace(visit, &walk);
}

_Unwind_Reason_Code ignore(_Unwind_Context*, void*) {
  return _URC_NO_REASON;
}

}  // namespace

void unwind_above(uintptr_t cfa, Frames& frames) {
  walk_stack(frames, cfa, false);
}

void unwind_interrupted(uintptr_t pc, Frames& frames) {
  walk_stack(frames, pc, true);
}

void warm_up_unwinder() {
  _Unwind_Backtrace(ignore, nullptr);
}

bool unwinder_is_signal_safe() {
  return dlsym(RTLD_DEFAULT, "_dl_find_object") != nullptr;
}

}  // namespace culprit::collector
