// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// All threads are asked first and then met as they stop: on a machine with more threads than cores
// a thread stops when it has its turn. A signal for the program that arrives in the meantime stops
// the thread as well; it is delivered when the thread goes on.
#include "assemble/look/short_stop.h"

#include <elf.h>
#include <errno.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>

#include "assemble/look/copy_memory.h"

namespace culprit::assemble::look {
namespace {

/// Outer frames beyond this are read when the thread is on its way again: they change rarely.
constexpr size_t kCopied = size_t{64} << 10;
/// A thread that waits for a device stops when that answers: it is met at a later look.
constexpr uint64_t kPatience_ns = 100'000'000;

uint64_t now_ns() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

/// Most threads stop within some microseconds, which is shorter than any sleep.
void wait_a_little(unsigned round) {
  constexpr unsigned kRoundsAwake = 50;
  const timespec pause = {0, 100'000};
  if (round < kRoundsAwake) {
    sched_yield();
  } else {
    nanosleep(&pause, nullptr);
  }
}

#if defined(__x86_64__)
void take_registers(const user_regs_struct& from, StoppedThread& to) {
  to.registers = {from.rax, from.rdx, from.rcx, from.rbx, from.rsi, from.rdi,
                  from.rbp, from.rsp, from.r8,  from.r9,  from.r10, from.r11,
                  from.r12, from.r13, from.r14, from.r15, from.rip};
  to.call = static_cast<int64_t>(from.orig_rax);
}
#else
void take_registers(const user_regs_struct& from, StoppedThread& to) {
  std::copy(std::begin(from.regs), std::end(from.regs), to.registers.begin());
  to.registers[kSpRegister] = from.sp;
  to.registers[kPcRegister] = from.pc;
}
#endif

bool copy_thread(pid_t process, StoppedThread& thread) {
  user_regs_struct registers = {};
  iovec place = {&registers, sizeof registers};
  if (ptrace(PTRACE_GETREGSET, static_cast<pid_t>(thread.tid), NT_PRSTATUS, &place) != 0) {
    return false;
  }
  take_registers(registers, thread);
  thread.stack.resize(kCopied);
  thread.stack.resize(copy_memory(process, thread.sp(), thread.stack.data(), thread.stack.size()));
  return !thread.stack.empty();
}

/// Lets it go on. A stop for a signal hands the signal on; that which was asked for has none.
void let_go(uint32_t tid, int status) {
  const long signal = status >> 16 == 0 ? WSTOPSIG(status) : 0;
  ptrace(PTRACE_DETACH, static_cast<pid_t>(tid), nullptr, signal);
}

enum class Met : uint8_t { not_yet, stopped, ended };
Met look_for(uint32_t tid, int& status) {
  const pid_t met = waitpid(static_cast<pid_t>(tid), &status, __WALL | WNOHANG);
  if (met == 0) return Met::not_yet;
  return met > 0 && WIFSTOPPED(status) ? Met::stopped : Met::ended;
}

}  // namespace

bool ShortStops::ask(uint32_t tid) {
  if (std::find(late_.begin(), late_.end(), tid) != late_.end()) return false;
  const auto thread = static_cast<pid_t>(tid);
  if (ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0) {
    if (errno != ESRCH) ++refused_;
    return false;
  }
  if (ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) == 0) return true;
  late_.push_back(tid);  // it ends at this moment, and must be met all the same
  return false;
}

/// False: it still runs.
bool ShortStops::meet(uint32_t tid, pid_t process, uint64_t ran_ns,
                      std::vector<StoppedThread>& found) {
  int status = 0;
  const Met met = look_for(tid, status);
  if (met != Met::stopped) return met == Met::ended;
  StoppedThread thread;
  thread.tid = tid;
  const bool copied = copy_thread(process, thread);
  let_go(tid, status);
  const uint64_t took = now_ns() - ran_ns;
  ++count_;
  all_ns_ += took;
  longest_ns_ = std::max(longest_ns_, took);
  if (copied) found.push_back(std::move(thread));
  return true;
}

std::vector<StoppedThread> ShortStops::of(pid_t process, std::span<const uint32_t> tids) {
  std::erase_if(late_, [](uint32_t tid) {
    int status = 0;
    const Met met = look_for(tid, status);
    if (met == Met::stopped) let_go(tid, status);
    return met != Met::not_yet;
  });
  std::vector<uint32_t> asked;
  for (const uint32_t tid : tids) {
    if (ask(tid)) asked.push_back(tid);
  }
  std::vector<StoppedThread> found;
  const uint64_t begin = now_ns();
  uint64_t ran_ns = begin;
  for (unsigned round = 0; !asked.empty() && now_ns() - begin < kPatience_ns; ++round) {
    const uint64_t looked_ns = now_ns();
    std::erase_if(asked, [&](uint32_t tid) { return meet(tid, process, ran_ns, found); });
    ran_ns = looked_ns;
    if (!asked.empty()) wait_a_little(round);
  }
  late_.insert(late_.end(), asked.begin(), asked.end());
  return found;
}

}  // namespace culprit::assemble::look
