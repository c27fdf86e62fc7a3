/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * processes <how>: main waits in await_it() for what another thread or process has computed in
 * heavy(): three times for 60 ms. How they tell each other is what differs. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "heavy.h"

static void write_all(int file) {
  for (int i = 0; i < kTimes; ++i) {
    heavy();
    check(write(file, "12345678", 8) == 8, "write");
  }
}

static void* write_from_thread(void* file) {
  write_all(*(int*)file);
  return NULL;
}

__attribute__((noinline)) static void await_it(int file) {
  char text[8];
  for (int i = 0; i < kTimes; ++i) check(read(file, text, 8) == 8, "read");
}

static pid_t fork_writer(int file) {
  const pid_t child = fork();
  check(child >= 0, "fork");
  if (child != 0) return child;
  write_all(file);
  exit(0);
}

/* --- threads --- */

static void with_thread(int from, int to) {
  pthread_t writer;
  pthread_create(&writer, NULL, write_from_thread, &to);
  await_it(from);
  pthread_join(writer, NULL);
}

static void pipe_of_threads(void) {
  int ends[2];
  check(pipe(ends) == 0, "pipe");
  with_thread(ends[0], ends[1]);
}

static void event(void) {
  const int file = eventfd(0, 0);
  check(file >= 0, "eventfd");
  with_thread(file, file);
}

/* A number that was an ordinary file's, and is a pipe's. */
static void used_again(void) {
  int ends[2];
  const int file = open("/dev/null", O_WRONLY);
  check(file >= 0 && write(file, "12345678", 8) == 8, "open");
  check(pipe(ends) == 0 && dup2(ends[1], file) == file && close(ends[1]) == 0, "dup2");
  with_thread(ends[0], file);
}

/* --- processes --- */

static void pipe_of_processes(void) {
  int ends[2];
  check(pipe(ends) == 0, "pipe");
  const pid_t child = fork_writer(ends[1]);
  await_it(ends[0]);
  wait_for(child);
}

static void pair(void) {
  int sides[2];
  check(socketpair(AF_UNIX, SOCK_STREAM, 0, sides) == 0, "socketpair");
  const pid_t child = fork_writer(sides[1]);
  await_it(sides[0]);
  wait_for(child);
}

/* The child opens it late. */
static void fifo(void) {
  check(mkfifo(name, 0600) == 0, "mkfifo");
  const pid_t child = fork();
  if (child == 0) {
    heavy();
    const int to = open(name, O_WRONLY);
    check(to >= 0, "open");
    write_all(to);
    exit(0);
  }
  const int from = open(name, O_RDONLY);
  check(from >= 0, "open");
  await_it(from);
  wait_for(child);
  unlink(name);
}

__attribute__((noinline)) static void await_children(void) {
  for (int i = 0; i < kTimes; ++i) check(wait(NULL) > 0, "wait");
}

static void children(void) {
  for (int i = 0; i < kTimes; ++i) {
    if (fork() == 0) {
      for (int k = 0; k <= i; ++k) heavy();
      if (i % 2 == 0) _exit(0);
      exit(0);
    }
  }
  await_children();
}

/* Of two pipes one is written to. */
static void two_pipes(void (*await)(int, int)) {
  int first[2], second[2];
  check(pipe(first) == 0 && pipe(second) == 0, "pipe");
  const pid_t child = fork_writer(second[1]);
  for (int i = 0; i < kTimes; ++i) {
    char text[8];
    await(first[0], second[0]);
    check(read(second[0], text, 8) == 8, "read");
  }
  wait_for(child);
}
__attribute__((noinline)) static void await_by_poll(int first, int second) {
  struct pollfd files[2] = {{first, POLLIN, 0}, {second, POLLIN, 0}};
  check(poll(files, 2, -1) == 1, "poll");
}
__attribute__((noinline)) static void await_by_select(int first, int second) {
  fd_set in;
  FD_ZERO(&in);
  FD_SET(first, &in);
  FD_SET(second, &in);
  check(select(second + 1, &in, NULL, NULL, NULL) == 1, "select");
}
/* What it gives with a descriptor is not its number. */
__attribute__((noinline)) static void await_by_epoll(int first, int second) {
  static int queue = -1;
  if (queue < 0) {
    queue = epoll_create1(0);
    struct epoll_event one = {.events = EPOLLIN, .data.u64 = 0x123456789abcull};
    struct epoll_event other = {.events = EPOLLIN, .data.ptr = name};
    check(epoll_ctl(queue, EPOLL_CTL_ADD, first, &one) == 0, "epoll_ctl");
    check(epoll_ctl(queue, EPOLL_CTL_ADD, second, &other) == 0, "epoll_ctl");
  }
  struct epoll_event event;
  check(epoll_wait(queue, &event, 1, -1) == 1, "epoll_wait");
}
static void by_poll(void) {
  two_pipes(await_by_poll);
}
static void by_select(void) {
  two_pipes(await_by_select);
}
static void by_epoll(void) {
  two_pipes(await_by_epoll);
}

/* It looks at something else after each slice, and goes on waiting. */
static volatile int looked;
__attribute__((noinline)) static void await_in_slices(int first, int second) {
  struct pollfd files[2] = {{first, POLLIN, 0}, {second, POLLIN, 0}};
  while (poll(files, 2, 5) == 0) ++looked;
}
__attribute__((noinline)) static void await_in_slices_of_select(int first, int second) {
  for (int ready = 0; ready == 0; ++looked) {
    fd_set in;
    struct timeval time = {0, 5000};
    FD_ZERO(&in);
    FD_SET(first, &in);
    FD_SET(second, &in);
    ready = select(second + 1, &in, NULL, NULL, &time);
  }
}
__attribute__((noinline)) static void await_in_slices_of_recv(int first, int second) {
  char one;
  (void)first;
  while (recv(second, &one, 1, MSG_PEEK) < 0) ++looked;
}
static void by_slices(void) {
  two_pipes(await_in_slices);
}
static void by_slices_of_select(void) {
  two_pipes(await_in_slices_of_select);
}
static void by_slices_of_recv(void) {
  int sides[2];
  const struct timeval time = {0, 5000};
  check(socketpair(AF_UNIX, SOCK_STREAM, 0, sides) == 0, "socketpair");
  check(setsockopt(sides[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time) == 0, "setsockopt");
  const pid_t child = fork_writer(sides[1]);
  for (int i = 0; i < kTimes; ++i) {
    char text[8];
    await_in_slices_of_recv(0, sides[0]);
    check(read(sides[0], text, 8) == 8, "read");
  }
  wait_for(child);
}

/* --- locks of files --- */

static void lock_by_flock(int file, int locks) {
  check(flock(file, locks ? LOCK_EX : LOCK_UN) == 0, "flock");
}
static void lock_by_lockf(int file, int locks) {
  check(lockf(file, locks ? F_LOCK : F_ULOCK, 0) == 0, "lockf");
}
static void lock_by_fcntl(int file, int locks) {
  struct flock lock = {.l_type = (short)(locks ? F_WRLCK : F_UNLCK), .l_whence = SEEK_SET};
  check(fcntl(file, F_SETLKW, &lock) == 0, "fcntl");
}
__attribute__((noinline)) static void await_lock(void (*change)(int, int), int file) {
  change(file, 1);
}

/* The child holds it while it computes, and gives it back: by asking, by closing, by ending. */
static void locked(void (*change)(int, int)) {
  for (int i = 0; i < kTimes; ++i) {
    int ready[2];
    char one;
    check(pipe(ready) == 0, "pipe");
    const pid_t child = fork();
    const int file = open(name, O_RDWR | O_CREAT, 0600);
    check(file >= 0, "open");
    if (child == 0) {
      change(file, 1);
      check(write(ready[1], "r", 1) == 1, "write");
      heavy();
      if (i == 0) change(file, 0);
      if (i == 1) close(file);
      if (i == 2) exit(0);
      usleep(20000);
      exit(0);
    }
    check(read(ready[0], &one, 1) == 1, "read");
    await_lock(change, file);
    close(file);
    wait_for(child);
  }
  unlink(name);
}
static void by_flock(void) {
  locked(lock_by_flock);
}
static void by_lockf(void) {
  locked(lock_by_lockf);
}
static void by_fcntl(void) {
  locked(lock_by_fcntl);
}

/* --- pools --- */

__attribute__((noinline)) static void await_results(int results, int count) {
  char one;
  for (int i = 0; i < count; ++i) check(read(results, &one, 1) == 1, "read");
}

/* Two workers take tasks from a pipe; the last one they get is long. */
static void workers(void) {
  int tasks[2], results[2];
  pid_t pids[2];
  char one;
  check(pipe(tasks) == 0 && pipe(results) == 0, "pipe");
  for (int w = 0; w < 2; ++w) {
    pids[w] = fork();
    if (pids[w] != 0) continue;
    while (read(tasks[0], &one, 1) == 1 && one != 'e') {
      for (int i = 0; i < (one == 'l' ? 5 : 1); ++i) heavy();
      check(write(results[1], "r", 1) == 1, "write");
    }
    exit(0);
  }
  check(write(tasks[1], "sssl", 4) == 4, "write");
  await_results(results[0], 4);
  check(write(tasks[1], "ee", 2) == 2, "write");
  for (int w = 0; w < 2; ++w) wait_for(pids[w]);
}

/* --- shared memory --- */

struct shared {
  sem_t done;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int number;
};

static struct shared* share(void) {
  struct shared* const memory =
      mmap(NULL, sizeof *memory, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  check(memory != MAP_FAILED, "mmap");
  pthread_mutexattr_t of_mutex;
  pthread_mutexattr_init(&of_mutex);
  pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&memory->mutex, &of_mutex);
  pthread_condattr_t of_condition;
  pthread_condattr_init(&of_condition);
  pthread_condattr_setpshared(&of_condition, PTHREAD_PROCESS_SHARED);
  pthread_cond_init(&memory->changed, &of_condition);
  sem_init(&memory->done, 1, 0);
  return memory;
}

__attribute__((noinline)) static void await_semaphore(struct shared* memory) {
  for (int i = 0; i < kTimes; ++i) check(sem_wait(&memory->done) == 0, "sem_wait");
}
static void semaphore(void) {
  struct shared* const memory = share();
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < kTimes; ++i) {
      heavy();
      sem_post(&memory->done);
    }
    exit(0);
  }
  await_semaphore(memory);
  wait_for(child);
}

__attribute__((noinline)) static void await_condition(struct shared* memory) {
  pthread_mutex_lock(&memory->mutex);
  while (memory->number < kTimes) pthread_cond_wait(&memory->changed, &memory->mutex);
  pthread_mutex_unlock(&memory->mutex);
}
static void condition(void) {
  struct shared* const memory = share();
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < kTimes; ++i) {
      heavy();
      pthread_mutex_lock(&memory->mutex);
      ++memory->number;
      pthread_cond_signal(&memory->changed);
      pthread_mutex_unlock(&memory->mutex);
    }
    exit(0);
  }
  await_condition(memory);
  wait_for(child);
}

/* --- who is not recorded --- */

static void commands(void) {
  char text[64];
  FILE* const stream = popen("sleep 0.3; echo done", "r");
  check(stream != NULL && fgets(text, sizeof text, stream) != NULL, "popen");
  check(pclose(stream) == 0, "pclose");
  check(system("sleep 0.3") == 0, "system");
}

static void outside(void) {
  pipe_of_threads();
  commands();
}

int main(int argc, char** argv) {
  static const struct {
    const char* how;
    void (*what)(void);
  } kCases[] = {
      {"pipe_of_threads", pipe_of_threads},
      {"event", event},
      {"used_again", used_again},
      {"pipe", pipe_of_processes},
      {"pair", pair},
      {"fifo", fifo},
      {"children", children},
      {"poll", by_poll},
      {"select", by_select},
      {"epoll", by_epoll},
      {"slices_of_poll", by_slices},
      {"slices_of_select", by_slices_of_select},
      {"slices_of_recv", by_slices_of_recv},
      {"flock", by_flock},
      {"lockf", by_lockf},
      {"fcntl", by_fcntl},
      {"workers", workers},
      {"semaphore", semaphore},
      {"condition", condition},
      {"outside", outside},
      {"commands", commands},
  };
  snprintf(name, sizeof name, "/tmp/culprit-processes.%ld", (long)getpid());
  for (size_t i = 0; argc > 1 && i < sizeof kCases / sizeof kCases[0]; ++i) {
    if (strcmp(argv[1], kCases[i].how) != 0) continue;
    kCases[i].what();
    puts("processes: done");
    return 0;
  }
  return 2;
}
