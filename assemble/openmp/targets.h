// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Work of a host thread for devices: time of the host only. The body of a target construct that
// runs on the host itself is the program's own; copies and kernels belong to the runtime.
#pragma once

#include "assemble/openmp/teams.h"

namespace culprit::assemble {

class OpenmpTargets {
 public:
  OpenmpTargets(ThreadState& state, OpenmpTeams& teams) : state_(state), teams_(teams) {}

  void begin(const RawRecord& record);
  void end(const RawRecord& record);

 private:
  ThreadState& state_;
  OpenmpTeams& teams_;
};

}  // namespace culprit::assemble
