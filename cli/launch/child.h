// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Runs a program as if the user had started it: same terminal, same descriptors, same signals, and
// its exit status is known afterwards as a shell knows it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace culprit::cli {

struct ChildResult {
  int status = 0;            ///< as a shell tells it: 128 + n when signal n ended it
  bool started = false;      ///< false: `status` is 126 or 127 and nothing ran
  std::string failure;       ///< why it was not started
  bool interrupted = false;  ///< culprit was told to end (INT, TERM, HUP) while it ran
};

/// Runs `command` with `environment` ("NAME=value") and waits for it. Signals that reach this
/// process meanwhile are handed on, unless the terminal has sent them to the child already.
/// `farewell` is written to stderr at once when another process tells this one to end: a batch
/// system may kill it before the child is gone. `every_second`, if any, is called about once a
/// second meanwhile. MT: one at a time.
ChildResult run_child(const std::vector<std::string>& command,
                      const std::vector<std::string>& environment, const std::string& farewell = {},
                      const std::function<void()>& every_second = {});

/// 0 if the program can be found and executed, else 126 or 127 as a shell would return.
int check_program(const std::string& program);
/// Its file; empty if it cannot be started.
std::filesystem::path find_program(const std::string& program);

/// "culprit: cannot start 'x': ..." and the status.
int explain_unstartable(const std::string& program, int status);

}  // namespace culprit::cli
