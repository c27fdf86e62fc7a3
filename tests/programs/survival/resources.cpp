// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// Programs that run short of something, or that change the surroundings in which the process began.
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "survive.h"

namespace survive {
namespace {

void limit(__rlimit_resource resource, rlim_t value) {
  rlimit limits;
  getrlimit(resource, &limits);
  limits.rlim_cur = value;
  setrlimit(resource, &limits);
}

volatile int g_regions = 0;  // without a body there would be no region

/// More records than a window holds: it has to be written somewhere. By teams of one: two threads
/// that wake each other 20,000 times take minutes where there are more threads than cores.
void compute_much() {
  for (int i = 0; i < 40'000; ++i) {
#pragma omp parallel num_threads(1)
    g_regions = i;
  }
}

template <rlim_t bytes>
void small_files() {
  limit(RLIMIT_FSIZE, bytes);
}

void small_files_later() {
  limit(RLIMIT_FSIZE, 1 << 16);
  compute_much();
}

void few_descriptors() {
  limit(RLIMIT_NOFILE, 3);
}

void few_descriptors_later() {
  limit(RLIMIT_NOFILE, 3);
  compute_much();
}

void little_memory() {
  compute_much();
  limit(RLIMIT_AS, 1);
  compute_much();
  void* memory = malloc(1 << 26);
  say(memory == nullptr ? "no memory" : "memory");
}

// The program's own room is what it asks for, and not less.
void memory_for_itself() {
  limit(RLIMIT_AS, rlim_t{1} << 30);
  void* memory = malloc(size_t{1} << 28);
  say(memory == nullptr ? "no memory" : "memory");
  free(memory);
}

void no_core() {
  limit(RLIMIT_CORE, 0);
}

void no_signals_to_queue() {
  limit(RLIMIT_SIGPENDING, 0);
}

void close_all() {
  for (int file = 3; file < 1024; ++file) close(file);
  compute_much();
}

void take_all_numbers() {
  for (int file = 3; file < 200; ++file) dup2(STDOUT_FILENO, file);
  compute_much();
  for (int file = 3; file < 200; ++file) close(file);
}

void go_elsewhere() {
  char name[] = "/tmp/survive.XXXXXX";
  if (mkdtemp(name) == nullptr || chdir(name) != 0) say("cannot leave");
  rmdir(name);
  compute_much();
}

void change_root() {
  char name[] = "/tmp/survive.XXXXXX";
  if (mkdtemp(name) == nullptr || chroot(name) != 0 || chdir("/") != 0) say("cannot leave");
  compute_much();
}

void change_user() {
  if (setgid(65534) != 0 || setuid(65534) != 0) say("no other user");
  compute_much();
}

void change_mask() {
  umask(0777);
  compute_much();
}

void clear_environment() {
  clearenv();
  compute_much();
}

void refuse_timers() {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_timer_create, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter = {sizeof rules / sizeof rules[0], rules};
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) say("no filter");
}

// Removes what this argument names: the experiment, while it is written.
void remove_folder() {
  char command[4200];
  snprintf(command, sizeof command, "rm -rf '%s'", g_argv[3]);
  (void)!system(command);
  compute_much();
}

/// Paths that nothing can be read from: the system says so, or looks at the flags first.
void unreadable_paths() {
  const char* volatile nowhere = reinterpret_cast<const char*>(8);
  compute();
  const int flags[] = {O_RDONLY, O_TMPFILE | O_RDONLY, O_CREAT | O_DIRECTORY};
  for (const int each : flags) {
    char line[60];
    errno = 0;
    const int result = open(nowhere, each, 0600);
    snprintf(line, sizeof line, "opened: %d, %d", result, errno);
    say(line);
  }
  for (int i = 0; i < 3; ++i) close(open("/dev/nvidia-that-is-not-there", O_RDONLY));
}

}  // namespace

const Case kResources[] = {
    {"first_files_of_8k", small_files<8192>},
    {"first_files_of_256k", small_files<1 << 18>},
    {"files_of_64k", small_files_later},
    {"first_few_descriptors", few_descriptors},
    {"few_descriptors", few_descriptors_later},
    {"little_memory", little_memory},
    {"unreadable_paths", unreadable_paths},
    {"first_memory_for_itself", memory_for_itself},
    {"first_no_core", no_core},
    {"first_no_signals", no_signals_to_queue},
    {"close_all", close_all},
    {"take_all_numbers", take_all_numbers},
    {"go_elsewhere", go_elsewhere},
    {"change_root", change_root},
    {"change_user", change_user},
    {"change_mask", change_mask},
    {"clear_environment", clear_environment},
    {"first_refuse_timers", refuse_timers},
    {"much", compute_much},
    {"first_much", compute_much},
    {"remove_folder", remove_folder},
    {nullptr, nullptr},
};

}  // namespace survive
