// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The list of probes: everything that can see something in a program. A new probe is a folder and
// one line in probes.cpp.
#pragma once

#include <cstddef>

namespace culprit::collector {

struct Probe {
  const char* name;
  const char* help;
  /// Called once, early, when recording is wanted. It may be called before constructors of the
  /// program have run, so it only registers; nullptr for probes that the program itself calls.
  void (*start)();
};

extern const Probe kProbes[];
extern const size_t kProbeCount;

/// Starts them all if recording is wanted. Idempotent: whoever comes first (the library's
/// constructor, an OpenMP runtime's constructor that looks for tools) calls it.
bool start_probes();

}  // namespace culprit::collector
