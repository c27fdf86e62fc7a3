// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A stack that leads to the very last address: its frames are found by the frame pointer, and one
// of them has a number there, as code has that needs the register for something else. What a walk
// reads next begins 4 bytes below the end of all memory.
#pragma once

#if defined(__x86_64__)

extern "C" {

/// Calls `sleeps`, which must use a frame pointer, while the frame pointer is -12.
void call_from_nowhere(void (*sleeps)());

}  // extern "C"

asm(R"(
  .text
  .weak call_from_nowhere
  .type call_from_nowhere, @function
call_from_nowhere:
  .cfi_startproc
  push %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset 6, -16
  mov %rsp, %rbp
  .cfi_def_cfa_register 6
  sub $16, %rsp
  mov %rbp, 8(%rsp)
  mov $-12, %rbp
  call *%rdi
  mov 8(%rsp), %rbp
  leave
  .cfi_def_cfa 7, 8
  ret
  .cfi_endproc
  .size call_from_nowhere, .-call_from_nowhere
)");

#endif
