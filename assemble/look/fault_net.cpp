// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Handlers stand only while the work goes on. Leaving it by a jump skips destructors: what they
// would have freed or closed stays, once.
#include "assemble/look/fault_net.h"

#include <link.h>
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

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

/// Where the C library's code lies, whose locks a jump would leave taken: malloc's, for one.
struct Extent {
  uintptr_t begin = 0, end = 0;
  bool contains(uintptr_t address) const { return address >= begin && address < end; }
};
Extent g_c_library;

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

void on_fault(int signal, siginfo_t*, void* context) {
  sigjmp_buf* const out = t_way_out;
  if (out != nullptr && !g_c_library.contains(place_of(context))) {
    t_way_out = nullptr;
    siglongjmp(*out, 1);
  }
  // Not in that work: the instruction is tried again, and ends the process.
  struct sigaction plain = {};
  plain.sa_handler = SIG_DFL;
  sigaction(signal, &plain, nullptr);
}

void stand_guard(Actions& before) {
  struct sigaction guard = {};
  guard.sa_sigaction = on_fault;
  guard.sa_flags = SA_SIGINFO;
  sigemptyset(&guard.sa_mask);
  for (size_t i = 0; i < before.size(); ++i) sigaction(kFaults[i], &guard, &before[i]);
}

void stand_down(const Actions& before) {
  for (size_t i = 0; i < before.size(); ++i) sigaction(kFaults[i], &before[i], nullptr);
}

}  // namespace

bool survives(const std::function<void()>& work) {
  if (g_c_library.end == 0) dl_iterate_phdr(look_at, nullptr);
  Actions before;
  stand_guard(before);
  sigjmp_buf out;
  const bool faulted = sigsetjmp(out, 1) != 0;
  if (!faulted) {
    t_way_out = &out;
    try {
      work();
    } catch (...) {
      t_way_out = nullptr;
      stand_down(before);
      throw;
    }
    t_way_out = nullptr;
  }
  stand_down(before);
  return !faulted;
}

}  // namespace culprit::assemble::look
