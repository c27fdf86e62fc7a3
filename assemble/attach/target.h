// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A process that is to be looked at from outside, and how much of it the system lets this user see.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/files/regular_file.h"
#include "base/result.h"

namespace culprit::assemble::attach {

struct Target {
  pid_t pid = 0;
  uint64_t began = 0;  ///< clock ticks since the machine's start; numbers are used again
  std::string name;
  std::string user;              ///< its owner, if that is another one
  std::string refusal;           ///< why only the scheduler's account can be read; empty: all can
  std::string debugger;          ///< the program that holds it already; empty: none
  bool other_processes = false;  ///< it numbers processes and threads in a way of its own
  std::string root;              ///< its files are found here + their path
  Descriptor root_folder;        ///< what `root` leads through; it outlives the process
};

/// Error if there is no such process, or it is none that executes a program.
Result<Target> find_target(pid_t process);

/// These processes, and those that they have started, each once.
std::vector<pid_t> with_descendants(std::span<const pid_t> processes);

/// Whether the very process is still there and executes.
bool is_there(const Target& target);

/// The number of a thread as its process sees it.
uint32_t number_inside(const Target& target, uint32_t tid);

}  // namespace culprit::assemble::attach
