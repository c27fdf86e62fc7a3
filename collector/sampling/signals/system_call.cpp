// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Stands in for syscall(). All but four numbers go straight on to the library's, by a jump: some
// (clone with a new stack) would not come back to a function in between. Threads wait for each
// other in futex (thread_waits.cpp). Processors other than x86-64 have no stand-in: there, programs
// that set a handler in this way are noticed later (check_sample_signal).
#include "collector/sampling/signals/system_call.h"

#include <signal.h>
#include <sys/syscall.h>

#include <cstdint>
#include <cstring>

#include "collector/sampling/blocking_call.h"
#include "collector/sampling/signals/sample_signal.h"

#if defined(__x86_64__)

extern "C" {

/// Used until the library's function is found.
__attribute__((visibility("hidden"))) constinit SystemCall* culprit_next_call = culprit_bare_call;

__attribute__((visibility("hidden"))) long culprit_failed_call(long result) {
  errno = static_cast<int>(-result);
  return -1;
}
__attribute__((visibility("hidden"))) SystemCall culprit_noted_call;

asm(R"(
  .text
  .p2align 4
  .globl syscall
  .type syscall, @function
syscall:
  .cfi_startproc
  endbr64
  cmpq $13, %rdi              # rt_sigaction
  je 1f
  cmpq $157, %rdi             # prctl
  je 1f
  cmpq $317, %rdi             # seccomp
  je 1f
  cmpq $202, %rdi             # futex
  je 2f
  jmp *culprit_next_call(%rip)
1:
  jmp culprit_noted_call
2:
  jmp culprit_futex_call
  .cfi_endproc
  .size syscall, .-syscall

  .p2align 4
  .globl culprit_bare_call
  .hidden culprit_bare_call
  .type culprit_bare_call, @function
culprit_bare_call:
  .cfi_startproc
  movq %rdi, %rax
  movq %rsi, %rdi
  movq %rdx, %rsi
  movq %rcx, %rdx
  movq %r8, %r10
  movq %r9, %r8
  movq 8(%rsp), %r9
  syscall
  cmpq $-4095, %rax
  jae 1f
  ret
1:
  movq %rax, %rdi
  jmp culprit_failed_call
  .cfi_endproc
  .size culprit_bare_call, .-culprit_bare_call
)");

}  // extern "C"

namespace culprit::collector::sampling {

namespace {

constinit Next<SystemCall> g_syscall("syscall");

/// The kernel's layout of an action.
struct KernelAction {
  void* handler;
  unsigned long flags;
  void* restorer;
  uint64_t mask;
};

struct sigaction from_kernel(const KernelAction& action) {
  struct sigaction same = {};
  memcpy(&same.sa_handler, &action.handler, sizeof action.handler);
  same.sa_flags = static_cast<int>(action.flags);
  memcpy(&same.sa_restorer, &action.restorer, sizeof action.restorer);
  memcpy(&same.sa_mask, &action.mask, sizeof action.mask);
  return same;
}

KernelAction to_kernel(const struct sigaction& action) {
  KernelAction same = {};
  memcpy(&same.handler, &action.sa_handler, sizeof same.handler);
  same.flags = static_cast<unsigned>(action.sa_flags);
  memcpy(&same.restorer, &action.sa_restorer, sizeof same.restorer);
  memcpy(&same.mask, &action.sa_mask, sizeof same.mask);
  return same;
}

long set_action(int signal, const KernelAction* action, KernelAction* previous) {
  struct sigaction wanted, before;
  if (action != nullptr) wanted = from_kernel(*action);
  if (set_program_action(signal, action != nullptr ? &wanted : nullptr, &before) != 0) return -1;
  if (previous != nullptr) *previous = to_kernel(before);
  return 0;
}

template <class T>
T pointer(long word) {
  return reinterpret_cast<T>(word);
}

}  // namespace

void find_system_call() {
  const KeepErrno keep;
  if (SystemCall* next = g_syscall.get()) culprit_next_call = next;
}

}  // namespace culprit::collector::sampling

extern "C" long culprit_noted_call(long number, long a, long b, long c, long d, long e, long f) {
  using namespace culprit::collector::sampling;
  if (number == SYS_rt_sigaction) {
    const auto signal = static_cast<int>(a);
    const bool is_sane = d == sizeof(uint64_t);
    if (is_sane && concerns_us(signal)) {
      return set_action(signal, pointer<const KernelAction*>(b), pointer<KernelAction*>(c));
    }
  } else if (number == SYS_seccomp) {
    before_seccomp(static_cast<unsigned long>(a), pointer<const void*>(c));
  } else {
    before_prctl(static_cast<unsigned long>(a), static_cast<unsigned long>(b),
                 pointer<const void*>(c));
  }
  return culprit_next_call(number, a, b, c, d, e, f);
}

#else

namespace culprit::collector::sampling {
void find_system_call() {}
}  // namespace culprit::collector::sampling

#endif
