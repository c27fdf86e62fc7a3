/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * endings <way>: uses the device for a moment, and ends in one of the ways that programs end. Each
 * way's own exit status is the same with and without a tool. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "cuda_work.h"

static void some_work() {
  for (int i = 0; i < 20; ++i) launch_busy(nullptr, 0.05);
}

/* Launches from another thread, until the process is gone. */
static void keep_launching() {
  std::thread([] {
    for (;;) launch_busy(nullptr, 0.01);
  }).detach();
  usleep(3000);
}

static int ended_child() {
  const pid_t child = fork();
  if (child == 0) _exit(5);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

struct SynchronizesLast {
  bool wanted = false;
  ~SynchronizesLast() {
    if (wanted) cudaDeviceSynchronize();
  }
};
static SynchronizesLast g_last;

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "return";
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  some_work();
  if (std::strcmp(way, "return") == 0) return 3;
  if (std::strcmp(way, "synchronized") == 0) return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
  if (std::strcmp(way, "exit_now") == 0) _exit(4);
  if (std::strcmp(way, "reset") == 0) return cudaDeviceReset() == cudaSuccess ? 0 : 1;
  if (std::strcmp(way, "terminated") == 0) raise(SIGTERM);
  if (std::strcmp(way, "killed") == 0) raise(SIGKILL);
  if (std::strcmp(way, "abort") == 0) std::abort();
  if (std::strcmp(way, "fork") == 0) return ended_child();
  if (std::strcmp(way, "launching") == 0) {
    keep_launching();
    std::_Exit(6);
  }
  if (std::strcmp(way, "exit_elsewhere") == 0) {
    std::thread([] { std::exit(7); }).join();
  }
  if (std::strcmp(way, "destructor") == 0) {
    g_last.wanted = true;
    return 8;
  }
  return 2;
}
