// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Runs a program as if the user had started it: same terminal, same descriptors, same signals, and
// its exit status is known afterwards as a shell knows it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "cli/launch/held_signals.h"

namespace culprit::cli {

struct ChildResult {
  int status = 0;            ///< as a shell tells it: 128 + n when signal n ended it
  bool started = false;      ///< false: `status` is 126 or 127 and nothing ran
  std::string failure;       ///< why it was not started
  bool interrupted = false;  ///< culprit was asked to end (INT, TERM, HUP) while it ran
};

/// Actions while a child runs.
struct Attendance {
  /// Written to stderr at once when another process asks this one to end: a batch system may kill
  /// it before the child is gone.
  std::string farewell = {};
  std::function<void()> every_second = {};
  /// Which signals that came to culprit alone the child gets; empty: all.
  std::function<bool(int signal)> passes = {};
};

/// Runs `command` with `environment` ("NAME=value") and waits for it. Signals that reach this
/// process meanwhile are handed on, unless the child has had them already. MT: one at a time.
ChildResult run_child(HeldSignals& held, const std::vector<std::string>& command,
                      const std::vector<std::string>& environment,
                      const Attendance& attendance = {});

/// Does `work` in a separate process, so that this one continues whatever happens to it. Signals
/// that do not end culprit (ends_culprit) are ignored there.
ChildResult run_apart(HeldSignals& held, const std::function<void()>& work,
                      const Attendance& attendance = {});
/// Returns whether a signal ends or stops culprit; others are meant for the measured program.
bool ends_culprit(int signal);

/// 0 if the program can be found and executed, else 126 or 127 as a shell would return.
int check_program(const std::string& program);
/// Its file; empty if it cannot be started.
std::filesystem::path find_program(const std::string& program);

/// "culprit: cannot start 'x': ..." and the status.
int explain_unstartable(const std::string& program, int status);

}  // namespace culprit::cli
