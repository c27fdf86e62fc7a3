// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Whether any thread waits is unknown here: the caller records only where one may.
#include "collector/sampling/processes/node_wakes.h"

#include "collector/process/lifecycle.h"
#include "collector/process/selection.h"
#include "collector/process/system_file.h"
#include "collector/sampling/no_cancellation.h"
#include "collector/sampling/stack_room.h"
#include "collector/sampling/started.h"

namespace culprit::collector::sampling {

void say_woke(uint64_t object, uint64_t time, Whence whence) {
  const KeepErrno keep;
  if (!lifecycle::is_watching() || selection::is_off() || !is_same_process()) return;
  const NoCancellation stays;
  ThreadLog* const log = lifecycle::watched_log();
  if (log == nullptr || log->waiting > 0) return;
  if (whence == Whence::caller && !has_room()) whence = Whence::nowhere;
  const PathId path = whence == Whence::caller ? log->current_path() : PathId::unknown;
  log->put(time, raw::woke{.path = static_cast<uint32_t>(path), .object = object});
}

}  // namespace culprit::collector::sampling
