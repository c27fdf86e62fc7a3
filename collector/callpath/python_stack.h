// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The functions that a thread executes in CPython. To the C stack, the interpreter is one function
// like others; the functions of its users are objects in its memory. They are read in place, by the
// very thread that runs them, which cannot change them meanwhile. Other interpreters, and other
// builds of this one, are not read. MT: each thread reads its own.
#pragma once

#include <cstddef>
#include <cstdint>

namespace culprit::collector::python {

/// One function that is being executed.
struct Frame {
  uintptr_t code;   ///< its code object
  uintptr_t name;   ///< a text object
  uintptr_t file;   ///< likewise
  uint32_t line;    ///< the function's first line
  uint32_t offset;  ///< offset of the current instruction in the function's code
  /// An address in the C stack frame of the interpreter's call that executes this function; 0 if it
  /// is unknown, then each call executes one function.
  uintptr_t call;
};

struct Stack {
  static constexpr unsigned kMaxDepth = 512;
  Frame at[kMaxDepth];  ///< innermost first
  unsigned count;
};

/// Checks whether the process has an interpreter by now. Not in signal handlers.
void find();
/// Whether the process has an interpreter whose frames can be read.
bool is_there();
/// The version (as in Py_Version) of an interpreter whose frames cannot be read; else 0.
uint32_t unknown_version();

/// Reads the frames of this thread; none if it is no thread of the interpreter. May touch unmapped
/// memory if the thread was interrupted.
void read(Stack& stack);
/// The same for a thread that has called out of the interpreter.
void read_at_call(Stack& stack);

/// Whether the address lies in the function that interprets.
bool interprets(uintptr_t address);

/// Writes a text object as UTF-8, cut if there is no room; returns its length.
size_t text(uintptr_t object, char* to, size_t size);

}  // namespace culprit::collector::python
