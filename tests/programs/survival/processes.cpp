// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// Children of all kinds, and becoming another program. What children do is no part of the
// measurement, unless nothing was recorded before them.
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "survive.h"

namespace survive {
namespace {

void tell_status(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  char line[60];
  snprintf(line, sizeof line, "child: %s %d", WIFEXITED(status) ? "status" : "signal",
           WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
  say(line);
}

template <class Body>
void in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    exit(11);
  }
  tell_status(child);
}

void fork_and_compute() {
  in_child([] { burn(30); });
}

// OpenMP in a child after the parent used it.
void fork_and_use_openmp() {
  in_child([] { compute(); });
}

void fork_and_exec() {
  in_child([] { execl("/bin/echo", "echo", "echo in a child", nullptr); });
}

void fork_grandchildren() {
  in_child([] { in_child([] { in_child([] { burn(20); }); }); });
}

void vfork_and_exec() {
  const pid_t child = vfork();
  if (child == 0) {
    execl("/bin/echo", "echo", "echo in a vfork child", nullptr);
    _exit(127);
  }
  tell_status(child);
}

void spawn() {
  char name[] = "echo", word[] = "echo in a spawned child";
  char* arguments[] = {name, word, nullptr};
  pid_t child;
  if (posix_spawnp(&child, "echo", nullptr, nullptr, arguments, environ) == 0) tell_status(child);
}

void call_system() {
  const int status = system("echo in a shell; (echo in its child | cat); exit 12");
  say(WIFEXITED(status) && WEXITSTATUS(status) == 12 ? "status 12" : "another status");
}

// Programs count on the lowest free number, and children must not inherit what is none of theirs.
void count_descriptors() {
  const int file = open("/dev/null", O_RDONLY);
  char line[60];
  snprintf(line, sizeof line, "next descriptor: %d", file);
  say(line);
  close(file);
  (void)!system("ls -1 /proc/self/fd");
}

void call_popen() {
  FILE* pipe = popen("echo from a pipe", "r");
  char line[100] = "";
  if (fgets(line, sizeof line, pipe) != nullptr) line[strcspn(line, "\n")] = '\0';
  pclose(pipe);
  say(line);
}

// The process in front ends at once; what is left works on without a terminal.
void become_daemon() {
  int ends[2];
  if (pipe(ends) != 0) _exit(1);
  if (fork() != 0) {
    close(ends[1]);
    char byte;
    (void)!read(ends[0], &byte, 1);  // until the daemon has ended: the test wants it all
    _exit(0);
  }
  close(ends[0]);
  setsid();
  if (fork() != 0) _exit(0);
}

void exec_again(const char* next) {
  execl("/proc/self/exe", g_argv[0], g_argv[1], next, nullptr);
}

void become_another() {
  say("before exec");
  exec_again("nothing");
}

void do_nothing() {}

}  // namespace

const Case kProcesses[] = {
    {"fork", fork_and_compute},
    {"fork_openmp", fork_and_use_openmp},
    {"fork_exec", fork_and_exec},
    {"grandchildren", fork_grandchildren},
    {"vfork_exec", vfork_and_exec},
    {"spawn", spawn},
    {"system", call_system},
    {"popen", call_popen},
    {"descriptors", count_descriptors},
    {"first_daemon", become_daemon},
    {"first_fork", fork_and_compute},
    {"first_system", call_system},
    {"first_exec", become_another},
    {"exec", become_another},
    {"nothing", do_nothing},
    {nullptr, nullptr},
};

}  // namespace survive
