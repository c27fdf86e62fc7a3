// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Files of /proc: the system's data on a process, on one of its threads, on a descriptor. Missing
// or forbidden data is empty: processes end while they are read.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "assemble/look/thread_look.h"

namespace culprit::assemble::look {

std::string read_proc(const std::string& file);
std::string link_target(const std::string& file);

std::vector<uint32_t> all_processes();
std::vector<uint32_t> threads_of(pid_t process);
/// Children of all of its threads.
std::vector<uint32_t> children_of(pid_t process);
/// "sleep, which sleeps": its name and state; empty if it is gone.
std::string describe_process(uint32_t process);
/// A signal has a handler that is not merely there for errors.
bool handles_signals(pid_t process);

/// Whether the system lets this process read its memory, and so its threads' stacks.
bool may_read_memory(pid_t process);
/// A descriptor of the folder that it sees as the root; < 0: none.
int open_root(pid_t process);

/// The map of a process with the paths of its files behind `root`.
std::string mapped_below(const std::string& maps, const std::string& root);

/// Whether memory is mapped so that other processes may see the same.
bool is_shared(pid_t process, uint64_t address);

/// State, core and turns; none if the thread is gone, or is culprit's own.
std::optional<ThreadLook> look_at_thread(pid_t process, uint32_t tid);

/// How long a thread could have run since it began, and had no core.
uint64_t without_core_ns(pid_t process, uint32_t tid);

/// Where a thread is blocked in the system: fills in call and args. None if it is in no call, or
/// we may not see it.
struct Registers {
  uint64_t sp = 0;
  uint64_t pc = 0;
};
std::optional<Registers> look_at_call(pid_t process, ThreadLook& thread);

/// How a process has the file open that `target` names (as link_target() of a descriptor has it).
struct Opened {
  bool reads = false;
  bool writes = false;
};
Opened opened_by(uint32_t process, const std::string& target);
/// The holder of the lock that a process waits for (flock, fcntl): none or one.
std::vector<uint32_t> lock_holders(pid_t waiter);

}  // namespace culprit::assemble::look
