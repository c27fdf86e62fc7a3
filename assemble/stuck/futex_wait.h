// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which object of POSIX threads a blocked thread waits at, and who must act for it to go on: the
// functions on its stack name the object, the object's own words its owner.
#pragma once

#include <cstdint>
#include <vector>

#include "assemble/look/thread_look.h"
#include "assemble/play/code.h"
#include "assemble/stuck/thread_wait.h"
#include "trace/thread_calls.h"

namespace culprit::assemble::stuck {

/// What the frames of a stack are.
struct StackFacts {
  const trace::ThreadCall* call = nullptr;  ///< the outermost that the program calls
  bool program = false;                     ///< some of it is the program's
  bool helper = false;  ///< a library that has threads of its own has begun the thread
};
StackFacts facts_of(const ProcessCode& code, const std::vector<uint64_t>& stack);

/// Of a thread that is blocked in a futex call.
ThreadWait wait_of(const look::ThreadLook& thread, const StackFacts& facts);

}  // namespace culprit::assemble::stuck
