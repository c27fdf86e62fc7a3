/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * counts FOLDER: makes FOLDER/<pid>, and appends a line to it for each signal that comes: its
 * number and, if it has one, its value. Ends when FOLDER/end is there. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int file;
static _Atomic int threads;

static void say(int number, siginfo_t* info, void* context) {
  (void)context;
  char line[40];
  const int value = info->si_code == SI_QUEUE ? info->si_value.sival_int : 0;
  const int length = snprintf(line, sizeof line, "%d %d\n", number, value);
  (void)!write(file, line, (size_t)length);
}

int main(int argc, char** argv) {
  char name[4096], end[4096];
  if (argc < 2) return 2;
  snprintf(name, sizeof name, "%s/%d", argv[1], (int)getpid());
  snprintf(end, sizeof end, "%s/end", argv[1]);
#pragma omp parallel num_threads(2)
  ++threads;
  struct sigaction action = {.sa_sigaction = say, .sa_flags = SA_SIGINFO | SA_RESTART};
  sigfillset(&action.sa_mask);
  char temporary[4100];
  snprintf(temporary, sizeof temporary, "%s.new", name);
  file = open(temporary, O_WRONLY | O_CREAT | O_APPEND, 0666);
  for (int number = 1; number <= SIGRTMAX; ++number) {
    // Stopping is left to the system, and samples to culprit.
    if (number == SIGTSTP || number == SIGURG || number == SIGCHLD) continue;
    if (number < SIGRTMIN && (number == 32 || number == 33)) continue;
    sigaction(number, &action, NULL);
  }
  rename(temporary, name);
  while (access(end, F_OK) != 0) {
    const struct timespec soon = {0, 10000000};
    nanosleep(&soon, NULL);
  }
  return 0;
}
