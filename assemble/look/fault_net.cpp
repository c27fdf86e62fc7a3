// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Handlers stand only while the work goes on, and in its thread only: whoever starts programs keeps
// all signals blocked, and a fault whose signal is blocked ends the process without asking any
// handler. A signal of that kind that somebody sends meanwhile is no fault: it is kept, and waits
// again afterwards. Leaving the work by a jump skips destructors: what they would have freed or
// closed stays, once.
#include "assemble/look/fault_net.h"

#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <iterator>

namespace culprit::assemble::look {
namespace {

constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
using Actions = std::array<struct sigaction, std::size(kFaults)>;

thread_local sigjmp_buf* t_way_out = nullptr;
/// What somebody sent, by its place in kFaults; 0: nothing.
std::array<siginfo_t, std::size(kFaults)> g_sent;

/// Where the C library's code lies, whose locks a jump would leave taken: malloc's, for one.
struct Extent {
  uintptr_t begin = 0, end = 0;
  bool contains(uintptr_t address) const { return address >= begin && address < end; }
};
Extent g_c_library;

/// The C library's functions that take no locks, and to which others hand what they have read. The
/// library has several of each, and the address is that of the one for this processor.
bool is_lock_free(uintptr_t place) {
  constexpr uintptr_t kLongest = 4096;  // their sizes are nowhere to be had
  const uintptr_t begins[] = {
      reinterpret_cast<uintptr_t>(&memcpy),  reinterpret_cast<uintptr_t>(&memmove),
      reinterpret_cast<uintptr_t>(&memset),  reinterpret_cast<uintptr_t>(&memcmp),
      reinterpret_cast<uintptr_t>(&strlen),  reinterpret_cast<uintptr_t>(&strnlen),
      reinterpret_cast<uintptr_t>(&strcmp),  reinterpret_cast<uintptr_t>(&strncmp),
      reinterpret_cast<uintptr_t>(&strcpy),  reinterpret_cast<uintptr_t>(&stpcpy),
      reinterpret_cast<uintptr_t>(&strncpy),
  };
  return std::any_of(std::begin(begins), std::end(begins),
                     [&](uintptr_t begin) { return place >= begin && place < begin + kLongest; });
}

bool may_jump_from(uintptr_t place) {
  return !g_c_library.contains(place) || is_lock_free(place);
}

int look_at(dl_phdr_info* info, size_t, void*) {
  const auto inside = reinterpret_cast<uintptr_t>(&malloc);
  Extent extent{UINTPTR_MAX, 0};
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    extent.begin = std::min(extent.begin, begin);
    extent.end = std::max(extent.end, begin + segment.p_memsz);
  }
  if (!extent.contains(inside)) return 0;
  g_c_library = extent;
  return 1;
}

uintptr_t place_of(const void* context) {
#if defined(__x86_64__)
  return static_cast<uintptr_t>(
      static_cast<const ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#else
  return static_cast<const ucontext_t*>(context)->uc_mcontext.pc;
#endif
}

void on_fault(int signal, siginfo_t* info, void* context) {
  if (info->si_code <= 0) {  // sent: the system's own are above
    const auto* const at = std::find(std::begin(kFaults), std::end(kFaults), signal);
    g_sent[static_cast<size_t>(at - std::begin(kFaults))] = *info;
    return;
  }
  sigjmp_buf* const out = t_way_out;
  if (out != nullptr && may_jump_from(place_of(context))) {
    t_way_out = nullptr;
    siglongjmp(*out, 1);
  }
  // Not in that work: the instruction is tried again, and ends the process.
  struct sigaction plain = {};
  plain.sa_handler = SIG_DFL;
  sigaction(signal, &plain, nullptr);
}

/// The handlers, while there are any, in a thread that lets faults through.
class Guard {
 public:
  Guard() {
    static std::array<char, size_t{64} << 10> room;  // for a stack that is full
    const stack_t stack = {.ss_sp = room.data(), .ss_flags = 0, .ss_size = room.size()};
    sigaltstack(&stack, &stack_);
    struct sigaction guard = {};
    guard.sa_sigaction = on_fault;
    guard.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&guard.sa_mask);
    g_sent = {};
    sigset_t faults;
    sigemptyset(&faults);
    for (size_t i = 0; i < before_.size(); ++i) {
      sigaction(kFaults[i], &guard, &before_[i]);
      sigaddset(&faults, kFaults[i]);
    }
    pthread_sigmask(SIG_UNBLOCK, &faults, &mask_);
  }
  ~Guard() {
    pthread_sigmask(SIG_SETMASK, &mask_, nullptr);
    for (size_t i = 0; i < before_.size(); ++i) {
      sigaction(kFaults[i], &before_[i], nullptr);
      if (g_sent[i].si_signo != 0) {
        syscall(SYS_rt_sigqueueinfo, getpid(), kFaults[i], &g_sent[i]);
      }
    }
    sigaltstack(&stack_, nullptr);
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  Actions before_;
  sigset_t mask_;
  stack_t stack_;
};

}  // namespace

bool survives(const std::function<void()>& work) {
  if (g_c_library.end == 0) dl_iterate_phdr(look_at, nullptr);
  const Guard guard;
  sigjmp_buf out;
  if (sigsetjmp(out, 1) != 0) return false;
  t_way_out = &out;
  try {
    work();
  } catch (...) {
    t_way_out = nullptr;
    throw;
  }
  t_way_out = nullptr;
  return true;
}

}  // namespace culprit::assemble::look
