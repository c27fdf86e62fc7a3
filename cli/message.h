// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How culprit ends: its exit statuses, and the message that goes with a failure. Messages go
// through base/log.h.
#pragma once

#include "base/log.h"
#include "base/result.h"

namespace culprit::cli {

/// Exit statuses: 0, what the measured program returned, or one of these. Where a program was
/// measured, its own stands, whatever culprit could not do.
inline constexpr int kFailure = 1;
inline constexpr int kUsage = 2;
inline constexpr int kDamaged = 3;          ///< there are findings, but of a damaged trace
inline constexpr int kContradiction = 4;    ///< there are findings, but their sums do not add up
inline constexpr int kRegression = 6;       ///< what culprit diff was to look for
inline constexpr int kStuck = 5;            ///< there are findings, and the run was stuck
inline constexpr int kNoProgress = 6;       ///< culprit stuck: nobody is known to be, nor to go on
inline constexpr int kCannotExecute = 126;  ///< as a shell has it
inline constexpr int kNotFound = 127;

/// Shows an error and returns the exit status that goes with it.
inline int fail(const Error& error) {
  log::Component("culprit").error("{}", error.sentence);
  return kFailure;
}

/// Returns the error that output could not be printed.
inline Error lost_output() {
  return {"cannot write to standard output"};
}

/// The same for an error in the command line.
inline int misused(const Error& error) {
  fail(error);
  return kUsage;
}

}  // namespace culprit::cli
