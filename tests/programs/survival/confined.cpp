// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// Programs that forbid themselves system calls, as sandboxes do. They end by the first that they
// did not allow themselves.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <initializer_list>

#include "survive.h"

namespace survive {
namespace {

struct Filter {
  sock_filter steps[40];
  unsigned short count = 0;

  Filter(std::initializer_list<int> numbers, unsigned answer, unsigned otherwise) {
    add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
    for (const int number : numbers) {
      add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1));
      add(BPF_STMT(BPF_RET | BPF_K, answer));
    }
    add(BPF_STMT(BPF_RET | BPF_K, otherwise));
  }

 private:
  void add(sock_filter step) { steps[count++] = step; }
};

Filter only_little(unsigned otherwise) {
  return Filter({SYS_write, SYS_exit_group, SYS_exit, SYS_futex, SYS_sched_yield, SYS_rt_sigreturn,
                 SYS_munmap, SYS_madvise, SYS_clock_gettime},
                SECCOMP_RET_ALLOW, otherwise);
}

void confine_by_prctl(Filter& filter) {
  sock_fprog program = {filter.count, filter.steps};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

void confine_by_seccomp(Filter& filter, unsigned flags) {
  sock_fprog program = {filter.count, filter.steps};
  syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

/// Without any system call.
volatile unsigned long g_count = 0;
void count_long() {
  for (int i = 0; i < 100'000'000; ++i) g_count = g_count + 1;
}

template <bool by_prctl, unsigned otherwise>
void to_little() {
  Filter filter = only_little(otherwise);
  by_prctl ? confine_by_prctl(filter) : confine_by_seccomp(filter, SECCOMP_FILTER_FLAG_TSYNC);
  burn(200);
  say("confined");
  _exit(0);
}

// What is forbidden is nothing that anybody needs.
void loosely() {
  Filter filter({SYS_ptrace, SYS_process_vm_readv, SYS_kexec_load}, SECCOMP_RET_KILL_PROCESS,
                SECCOMP_RET_ALLOW);
  confine_by_seccomp(filter, SECCOMP_FILTER_FLAG_TSYNC);
  for (int i = 0; i < 5; ++i) compute();
}

// One thread only; the others go on.
void* confined_thread(void* strictly) {
  if (strictly != nullptr) {
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
  } else {
    Filter filter = only_little(SECCOMP_RET_KILL_PROCESS);
    confine_by_prctl(filter);
  }
  count_long();
  say("confined");
  syscall(SYS_exit, 0);
  return nullptr;
}
template <bool strictly>
void one_thread() {
  pthread_t thread;
  pthread_create(&thread, nullptr, confined_thread, strictly ? &thread : nullptr);
  burn(200);
  compute();
  pthread_join(thread, nullptr);
}

}  // namespace

const Case kConfined[] = {
    {"to_little", to_little<false, SECCOMP_RET_KILL_PROCESS>},
    {"to_little_by_prctl", to_little<true, SECCOMP_RET_KILL_PROCESS>},
    {"to_little_with_trap", to_little<true, SECCOMP_RET_TRAP>},
    {"loosely", loosely},
    {"one_thread", one_thread<false>},
    {"strictly", one_thread<true>},
    {nullptr, nullptr},
};

}  // namespace survive
