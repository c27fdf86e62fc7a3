// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What a thread executes in CPython: the interpreter is a function like others, and what its users
// wrote are objects in its memory. They are read where they lie, by this very thread, which cannot
// change them meanwhile. Other interpreters, and other builds of this one, are not read.
// MT: each thread reads its own.
#pragma once

#include <cstddef>
#include <cstdint>

namespace culprit::collector::python {

/// One function that is being executed.
struct Frame {
  uintptr_t code;   ///< its code object
  uintptr_t name;   ///< a text object
  uintptr_t file;   ///< likewise
  uint32_t line;    ///< its first
  uint32_t offset;  ///< of the instruction, in its code
  /// An address in the frame that the interpreter's call has on the C stack, which executes this;
  /// 0: not known. Then each call executes one.
  uintptr_t call;
};

struct Stack {
  static constexpr unsigned kMaxDepth = 512;
  Frame at[kMaxDepth];  ///< innermost first
  unsigned count;
};

/// Looks whether the process has an interpreter by now. Not in signal handlers.
void find();
/// Whether it has one whose frames can be read.
bool is_there();
/// Of an interpreter whose frames cannot be read, its version as Py_Version has it; else 0.
uint32_t unknown_version();

/// What this thread executes; nothing if it is no thread of the interpreter's. May touch memory
/// that is not there, if the thread was interrupted.
void read(Stack& stack);
/// The same, of a thread that has called out of the interpreter.
void read_at_call(Stack& stack);

/// Whether this is code of the function that interprets.
bool interprets(uintptr_t address);

/// A text object as UTF-8, its end cut off if need be; returns its length.
size_t text(uintptr_t object, char* to, size_t size);

}  // namespace culprit::collector::python
