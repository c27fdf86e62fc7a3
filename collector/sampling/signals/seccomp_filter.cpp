// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Executes a filter for each system call that the collector makes, as the kernel would. Arguments
// that filters look at have their real values, and others are 0. A filter that cannot be
// interpreted counts as deadly.
#include <linux/audit.h>
#include <linux/bpf_common.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "collector/sampling/signals/confinement.h"

namespace culprit::collector::sampling {

namespace {

#if defined(__x86_64__)
constexpr uint32_t kMachine = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr uint32_t kMachine = AUDIT_ARCH_AARCH64;
#else
#error "collector/sampling: say how filters call this processor"
#endif

constexpr unsigned kLongest = BPF_MAXINSNS;

struct Registers {
  uint32_t a = 0;
  uint32_t x = 0;
  uint32_t memory[BPF_MEMWORDS] = {};
};

std::optional<uint32_t> word_at(const seccomp_data& data, uint32_t offset) {
  if (offset % 4 != 0 || offset > sizeof data - 4) return {};
  uint32_t word = 0;
  memcpy(&word, reinterpret_cast<const char*>(&data) + offset, sizeof word);
  return word;
}

/// The value that a step loads into either register.
std::optional<uint32_t> loaded(const sock_filter& step, const seccomp_data& data,
                               const Registers& registers) {
  switch (BPF_MODE(step.code)) {
    case BPF_ABS:
      return word_at(data, step.k);
    case BPF_IMM:
      return step.k;
    case BPF_LEN:
      return static_cast<uint32_t>(sizeof data);
    case BPF_MEM:
      if (step.k < BPF_MEMWORDS) return registers.memory[step.k];
  }
  return {};
}

std::optional<uint32_t> computed(uint16_t code, uint32_t a, uint32_t operand) {
  switch (BPF_OP(code)) {
    case BPF_ADD:
      return a + operand;
    case BPF_SUB:
      return a - operand;
    case BPF_MUL:
      return a * operand;
    case BPF_AND:
      return a & operand;
    case BPF_OR:
      return a | operand;
    case BPF_XOR:
      return a ^ operand;
    case BPF_LSH:
      return operand < 32 ? a << operand : 0;
    case BPF_RSH:
      return operand < 32 ? a >> operand : 0;
    case BPF_NEG:
      return -a;
    case BPF_DIV:
      if (operand != 0) return a / operand;
  }
  return {};
}

std::optional<bool> holds(uint16_t code, uint32_t a, uint32_t operand) {
  switch (BPF_OP(code)) {
    case BPF_JEQ:
      return a == operand;
    case BPF_JGT:
      return a > operand;
    case BPF_JGE:
      return a >= operand;
    case BPF_JSET:
      return (a & operand) != 0;
  }
  return {};
}

/// Executes one step on the registers. False if it makes no sense.
bool execute(const sock_filter& step, const seccomp_data& data, Registers& registers) {
  const uint32_t operand = BPF_SRC(step.code) == BPF_X ? registers.x : step.k;
  std::optional<uint32_t> value;
  switch (BPF_CLASS(step.code)) {
    case BPF_LD:
      value = loaded(step, data, registers);
      if (value) registers.a = *value;
      return value.has_value();
    case BPF_LDX:
      value = loaded(step, data, registers);
      if (value) registers.x = *value;
      return value.has_value();
    case BPF_ALU:
      value = computed(step.code, registers.a, operand);
      if (value) registers.a = *value;
      return value.has_value();
    case BPF_ST:
    case BPF_STX:
      if (step.k >= BPF_MEMWORDS) return false;
      registers.memory[step.k] = BPF_CLASS(step.code) == BPF_ST ? registers.a : registers.x;
      return true;
    case BPF_MISC:
      (BPF_MISCOP(step.code) == BPF_TAX ? registers.x : registers.a) =
          BPF_MISCOP(step.code) == BPF_TAX ? registers.a : registers.x;
      return true;
  }
  return false;
}

/// The number of steps that a jump leaves out.
std::optional<uint32_t> left_out(const sock_filter& step, const Registers& registers) {
  if (BPF_OP(step.code) == BPF_JA) return step.k;
  const uint32_t operand = BPF_SRC(step.code) == BPF_X ? registers.x : step.k;
  const std::optional<bool> yes = holds(step.code, registers.a, operand);
  if (!yes) return {};
  return *yes ? step.jt : step.jf;
}

/// The filter's verdict.
uint32_t answer(const sock_fprog& filter, const seccomp_data& data) {
  Registers registers;
  for (uint32_t at = 0; at < filter.len; ++at) {
    const sock_filter& step = filter.filter[at];
    if (BPF_CLASS(step.code) == BPF_RET) {
      return BPF_RVAL(step.code) == BPF_A ? registers.a : step.k;
    }
    if (BPF_CLASS(step.code) == BPF_JMP) {
      const std::optional<uint32_t> jump = left_out(step, registers);
      if (!jump || *jump >= filter.len - at) return SECCOMP_RET_KILL_PROCESS;
      at += *jump;
    } else if (!execute(step, data, registers)) {
      return SECCOMP_RET_KILL_PROCESS;
    }
  }
  return SECCOMP_RET_KILL_PROCESS;
}

bool is_bearable(uint32_t answer) {
  const uint32_t action = answer & SECCOMP_RET_ACTION_FULL;
  return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG || action == SECCOMP_RET_ERRNO;
}

/// The system calls that samples, records and the end of the process need.
struct Call {
  int number;
  uint64_t arguments[6];
};
constexpr Call kCalls[] = {
    {SYS_rt_sigreturn, {}},
    {SYS_rt_sigaction, {}},
    {SYS_rt_sigprocmask, {}},
    {SYS_rt_tgsigqueueinfo, {}},
    {SYS_clock_gettime, {}},
    {SYS_timer_create, {}},
    {SYS_timer_settime, {}},
    {SYS_timer_delete, {}},
    {SYS_getpid, {}},
    {SYS_gettid, {}},
    {SYS_sched_yield, {}},
    {SYS_sched_getaffinity, {}},
    {SYS_getdents64, {}},
    {SYS_openat, {}},
    {SYS_close, {}},
    {SYS_read, {}},
    {SYS_pwrite64, {}},
    {SYS_ftruncate, {}},
    {SYS_fallocate, {}},
    {SYS_mmap, {0, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0}},
    {SYS_mmap, {0, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, 0, 0}},
    {SYS_munmap, {}},
};

}  // namespace

bool leaves_us_alone(const sock_fprog& filter) {
  if (filter.filter == nullptr || filter.len > kLongest)
    return true;  // the kernel refuses this
                  // filter
  for (const Call& call : kCalls) {
    seccomp_data data = {};
    data.nr = call.number;
    data.arch = kMachine;
    memcpy(data.args, call.arguments, sizeof data.args);
    if (!is_bearable(answer(filter, data))) return false;
  }
  return true;
}

}  // namespace culprit::collector::sampling
