// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Forked workers end without the program's destructors (Python's os._exit): their recording ends
// here. A process that shares its parent's memory (vfork) ends no recording. All other processes
// that end in this way, perhaps from a signal handler, end without this step: it is not safe in
// handlers.
#include "collector/sampling/quick_exit.h"

#include <unistd.h>

#include <cstdlib>

#include "collector/process/lifecycle.h"
#include "collector/sampling/blocking_call.h"
#include "collector/sampling/processes/descriptors.h"

namespace culprit::collector::sampling {

namespace {

constinit Next<void(int)> g_exit_now("_exit");

}  // namespace

void find_exit_calls() {
  const KeepErrno keep;
  g_exit_now.find();
}

namespace {

[[noreturn]] void end_now(int status) {
  if (has_started() && is_same_process() && lifecycle::is_forked()) {
    before_end();
    lifecycle::end();
  }
  if (auto* const next = g_exit_now.get()) next(status);
  for (;;) pause();  // there is no system without it
}

}  // namespace

}  // namespace culprit::collector::sampling

extern "C" {

CULPRIT_EXPORT void _exit(int status) {
  culprit::collector::sampling::end_now(status);
}

CULPRIT_EXPORT void _Exit(int status) noexcept {
  culprit::collector::sampling::end_now(status);
}

}  // extern "C"
