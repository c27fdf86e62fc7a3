// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A signal that comes while the kernel works for a thread is delivered when the thread goes on: at
// the instruction behind its system call (or at the call, if that is repeated), or at the one that
// touched a page that was not there.
//
// A forked child's thread has counts of its own, which begin anew: smaller counts than the last
// begin a new account.
#include "collector/sampling/kernel_use.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "collector/process/fault_guard.h"
#include "collector/process/system_file.h"

namespace culprit::collector::sampling {

namespace {

using trace::RawKernelPlace;

/// Less time in the kernel than this is not worth a record.
constexpr uint64_t kLeast_ns = 1'000'000;

struct KernelUse {
  uint64_t system_ns;
  uint64_t faults;
};
/// Of this thread, when it was last recorded.
constinit thread_local KernelUse t_told __attribute__((tls_model("initial-exec"))) = {};

bool read(KernelUse& use) {
  rusage usage;
  if (syscall(SYS_getrusage, RUSAGE_THREAD, &usage) != 0) return false;
  use = {static_cast<uint64_t>(usage.ru_stime.tv_sec) * 1'000'000'000 +
             static_cast<uint64_t>(usage.ru_stime.tv_usec) * 1'000,
         static_cast<uint64_t>(usage.ru_minflt + usage.ru_majflt)};
  return true;
}

#if defined(__x86_64__)
constexpr unsigned char kSystemCall[] = {0x0f, 0x05};  // syscall
#elif defined(__aarch64__)
constexpr unsigned char kSystemCall[] = {0x01, 0x00, 0x00, 0xd4};  // svc #0
#else
#error "collector/sampling: say which instruction is a system call of this processor"
#endif

struct Look {
  uintptr_t pc;
  volatile bool is_call = false;
};

/// Code may not be readable.
void look_at_code(void* argument) {
  auto& look = *static_cast<Look*>(argument);
  const auto* const code = reinterpret_cast<const unsigned char*>(look.pc);
  look.is_call = std::memcmp(code - sizeof kSystemCall, kSystemCall, sizeof kSystemCall) == 0 ||
                 std::memcmp(code, kSystemCall, sizeof kSystemCall) == 0;
}

RawKernelPlace place_at(uintptr_t sampled_pc) {
  if (sampled_pc == 0) return RawKernelPlace::here;
  Look look{sampled_pc};
  const bool is_known = run_guarded(look_at_code, &look);
  return is_known && !look.is_call ? RawKernelPlace::fault : RawKernelPlace::system_call;
}

}  // namespace

void begin_kernel_use() {
  const KeepErrno keep;
  read(t_told);
}

void tell_kernel_use(ThreadLog& log, uintptr_t sampled_pc) {
  const KeepErrno keep;
  KernelUse use;
  if (!read(use)) return;
  if (use.system_ns < t_told.system_ns || use.faults < t_told.faults) t_told = {};
  const uint64_t system_ns = use.system_ns - t_told.system_ns;
  if (system_ns < kLeast_ns) return;
  const uint64_t faults = std::min<uint64_t>(use.faults - t_told.faults, UINT32_MAX);
  log.put(now(), raw::kernel_use{.faults = static_cast<uint32_t>(faults),
                                 .place = place_at(sampled_pc),
                                 .system_ns = system_ns});
  t_told = use;
}

}  // namespace culprit::collector::sampling
