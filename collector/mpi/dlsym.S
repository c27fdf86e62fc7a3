// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// Stands before dlsym for the sake of programs that reach MPI or CUPTI through a handle (by_handle.cpp). What
// RTLD_NEXT means depends on who asks, so for all other names the real one is jumped to, and finds
// the caller's return address where it would have been.

#if defined(__x86_64__)

  .text
  .p2align 4
  .globl dlsym
  .type dlsym, @function
dlsym:
  .cfi_startproc
  endbr64
  cmpb $'M', (%rsi)
  je 1f
  cmpb $'m', (%rsi)
  je 1f
  cmpb $'c', (%rsi)               // cupti...; shorter names end within these
  jne 2f
  cmpb $'u', 1(%rsi)
  jne 2f
  cmpb $'p', 2(%rsi)
  jne 2f
1:
  leaq 1(%rdi), %rax              // RTLD_NEXT is -1, RTLD_DEFAULT 0
  cmpq $1, %rax
  ja culprit_dlsym_of_ours
2:
  movq culprit_real_dlsym(%rip), %rax
  testq %rax, %rax
  je 3f
  jmp *%rax
3:
  pushq %rdi
  .cfi_adjust_cfa_offset 8
  pushq %rsi
  .cfi_adjust_cfa_offset 8
  subq $8, %rsp
  .cfi_adjust_cfa_offset 8
  call culprit_find_dlsym
  addq $8, %rsp
  .cfi_adjust_cfa_offset -8
  popq %rsi
  .cfi_adjust_cfa_offset -8
  popq %rdi
  .cfi_adjust_cfa_offset -8
  jmp *%rax
  .cfi_endproc
  .size dlsym, . - dlsym

#elif defined(__aarch64__)

  .text
  .p2align 4
  .globl dlsym
  .type dlsym, %function
dlsym:
  .cfi_startproc
  hint #34                        // bti c
  ldrb w9, [x1]
  cmp w9, #'M'
  b.eq 1f
  cmp w9, #'m'
  b.eq 1f
  cmp w9, #'c'                    // cupti...; shorter names end within these
  b.ne 2f
  ldrb w9, [x1, #1]
  cmp w9, #'u'
  b.ne 2f
  ldrb w9, [x1, #2]
  cmp w9, #'p'
  b.ne 2f
1:
  add x9, x0, #1                  // RTLD_NEXT is -1, RTLD_DEFAULT 0
  cmp x9, #1
  b.ls 2f
  b culprit_dlsym_of_ours
2:
  adrp x9, culprit_real_dlsym
  ldr x16, [x9, :lo12:culprit_real_dlsym]
  cbz x16, 3f
  br x16
3:
  stp x29, x30, [sp, #-32]!
  .cfi_adjust_cfa_offset 32
  .cfi_offset 29, -32
  .cfi_offset 30, -24
  stp x0, x1, [sp, #16]
  bl culprit_find_dlsym
  mov x16, x0
  ldp x0, x1, [sp, #16]
  ldp x29, x30, [sp], #32
  .cfi_adjust_cfa_offset -32
  .cfi_restore 29
  .cfi_restore 30
  br x16
  .cfi_endproc
  .size dlsym, . - dlsym

#endif

  .section .note.GNU-stack, "", %progbits
