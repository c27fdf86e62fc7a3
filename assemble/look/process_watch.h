// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Looks at one process of this host, now and again. MT: one thread.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "assemble/look/live_stacks.h"
#include "assemble/look/short_stop.h"
#include "assemble/look/thread_look.h"

namespace culprit::assemble::look {

class ProcessWatch {
 public:
  /// Its files are found at `root` + their path.
  explicit ProcessWatch(pid_t process, std::string root = {})
      : process_(process), root_(std::move(root)) {}

  /// All of its threads. Of one that is where it was `before`, its stack and what it waits for are
  /// taken from there. With `stops`, those that run are stopped for their stacks.
  ProcessLook look(const ProcessLook* before, ShortStops* stops = nullptr);
  /// The process may have loaded other files since the stacks were first asked for.
  void forget_files() { stacks_.reset(); }

 private:
  void see_blocked(ThreadLook& thread, const ThreadLook* known);
  void see_running(ProcessLook& look, ShortStops& stops);
  LiveStacks& stacks();

  pid_t process_;
  std::string root_;
  std::unique_ptr<LiveStacks> stacks_;  ///< made when first needed
};

}  // namespace culprit::assemble::look
