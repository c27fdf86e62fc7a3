// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The system calls in which a thread may stay: their names, and how their arguments show the object
// of the wait. Any other call is named by its number.
#pragma once

#include <cstdint>
#include <string>

namespace culprit::assemble::look {

enum class CallSort : uint8_t {
  other,
  futex,
  reads,   ///< from the descriptor in its first argument
  writes,  ///< to it
  locks,   ///< the file of that descriptor
  opens,   ///< the path in its second argument
  child,   ///< waits for the process in its first argument; <= 0: for any
  sleeps,  ///< until a time
  polls,   ///< several descriptors
};

struct SystemCall {
  std::string name;
  CallSort sort = CallSort::other;
};

SystemCall system_call(int64_t number);

}  // namespace culprit::assemble::look
