// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The common part of `run` and `record`: starts the program with the collector in it, in front of a
// launcher or as one of its ranks, and processes its records afterwards.
#pragma once

#include "cli/command.h"
#include "cli/launch/settings.h"

namespace culprit::cli {

struct MeasureOptions {
  Command command;
  bool full = false;    ///< print the whole page, not its first screen
  bool report = false;  ///< analyse and print (run), or stop at the trace (record)
  GivenSettings settings;
};

/// Returns the program's status, whatever culprit could not do. Where the program did not run: 126
/// or 127 if it cannot be started, kUsage if the command line is wrong in itself.
int measure(const MeasureOptions& options);

}  // namespace culprit::cli
