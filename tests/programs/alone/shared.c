/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * shared <how>: main waits in await_it() for what another process or thread does in heavy(): three
 * times for 60 ms. They meet at objects in memory that processes share, and main waits for room in
 * a pipe. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "heavy.h"

enum { kFilling = 64 << 10 };

static void* memory_of_all(size_t bytes) {
  void* const memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  check(memory != MAP_FAILED, "mmap");
  return memory;
}

/* --- objects in shared memory --- */

__attribute__((noinline)) static void await_barrier(pthread_barrier_t* it) {
  for (int i = 0; i < kTimes; ++i) pthread_barrier_wait(it);
}

static void barrier(void) {
  pthread_barrier_t* const it = memory_of_all(sizeof *it);
  pthread_barrierattr_t shared;
  pthread_barrierattr_init(&shared);
  pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(it, &shared, 2);
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < kTimes; ++i) {
      heavy();
      pthread_barrier_wait(it);
    }
    exit(0);
  }
  await_barrier(it);
  wait_for(child);
}

__attribute__((noinline)) static void await_lock(pthread_rwlock_t* it) {
  for (int i = 0; i < kTimes; ++i) {
    usleep(20000);
    pthread_rwlock_rdlock(it);
    pthread_rwlock_unlock(it);
    usleep(20000);
  }
}

static void rwlock(void) {
  pthread_rwlock_t* const it = memory_of_all(sizeof *it);
  pthread_rwlockattr_t shared;
  pthread_rwlockattr_init(&shared);
  pthread_rwlockattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
  pthread_rwlock_init(it, &shared);
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < kTimes; ++i) {
      pthread_rwlock_wrlock(it);
      heavy();
      pthread_rwlock_unlock(it);
      usleep(20000);
    }
    exit(0);
  }
  await_lock(it);
  wait_for(child);
}

__attribute__((noinline)) static void await_word(atomic_int* word) {
  for (int i = 0; i < kTimes; ++i) {
    while (atomic_load(word) == i) syscall(SYS_futex, word, FUTEX_WAIT, i, NULL, NULL, 0);
  }
}

static void futex(void) {
  atomic_int* const word = memory_of_all(sizeof *word);
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < kTimes; ++i) {
      heavy();
      atomic_fetch_add(word, 1);
      syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
    }
    exit(0);
  }
  await_word(word);
  wait_for(child);
}

/* Two pairs of processes: in each child, another semaphore lies at the same address. */
static void make_in_place(void* place, int at) {
  char path[96];
  snprintf(path, sizeof path, "%s.%d", name, at);
  const int file = open(path, O_RDWR | O_CREAT, 0600);
  check(file >= 0 && ftruncate(file, 4096) == 0, "file");
  check(mmap(place, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == place,
        "mmap");
  close(file);
}

__attribute__((noinline)) static void await_semaphore(sem_t* it) {
  for (int i = 0; i < kTimes; ++i) check(sem_wait(it) == 0, "sem_wait");
}

__attribute__((noinline)) static void innocent(sem_t* it) {
  for (int i = 0; i < 10 * kTimes; ++i) {
    usleep(kMs * 100);
    sem_post(it);
  }
}

static void one_address(void) {
  char* const place = mmap(NULL, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  make_in_place(place, 0);
  sem_init((sem_t*)place, 1, 0);
  const pid_t other = fork();
  if (other == 0) {
    make_in_place(place, 1);
    sem_init((sem_t*)place, 1, 0);
    const pid_t its = fork();
    if (its == 0) {
      innocent((sem_t*)place);
      exit(0);
    }
    pause(); /* it waits for none of them */
    exit(0);
  }
  const pid_t child = fork();
  if (child == 0) {
    make_in_place(place + 8192, 0); /* elsewhere than its parent */
    for (int i = 0; i < kTimes; ++i) {
      heavy();
      sem_post((sem_t*)(place + 8192));
    }
    exit(0);
  }
  await_semaphore((sem_t*)place);
  wait_for(child);
  kill(other, SIGKILL); /* so that nobody waits for it */
  waitpid(other, NULL, 0);
  for (int i = 0; i < 2; ++i) {
    char path[96];
    snprintf(path, sizeof path, "%s.%d", name, i);
    unlink(path);
  }
}

/* The other process is executed, and knows the semaphore by its name. */
static void give(const char* semaphore) {
  sem_t* const it = sem_open(semaphore, 0);
  check(it != SEM_FAILED, "sem_open");
  for (int i = 0; i < kTimes; ++i) {
    heavy();
    sem_post(it);
  }
}

static void named(void) {
  char semaphore[64];
  snprintf(semaphore, sizeof semaphore, "/culprit-shared.%ld", (long)getpid());
  sem_t* const it = sem_open(semaphore, O_CREAT | O_EXCL, 0600, 0u);
  check(it != SEM_FAILED, "sem_open");
  const pid_t child = vfork();
  if (child == 0) {
    execl("/proc/self/exe", "shared", "give", semaphore, NULL);
    _exit(1);
  }
  await_semaphore(it);
  wait_for(child);
  sem_unlink(semaphore);
}

/* --- room in pipes and sockets --- */

static char data[4 * kFilling];

static void take_all(int from, size_t at_a_time) {
  for (int i = 0; i < kTimes; ++i) {
    heavy();
    for (size_t got = 0; got < at_a_time;) {
      const ssize_t now = read(from, data, at_a_time - got);
      check(now > 0, "read");
      got += (size_t)now;
    }
  }
}

static void* take(void* from) {
  take_all(*(int*)from, kFilling);
  return NULL;
}

__attribute__((noinline)) static void await_room(int to, size_t bytes) {
  check(write(to, data, bytes) == (ssize_t)bytes, "write");
}

static void full_pipe(void) {
  int ends[2];
  pthread_t reader;
  check(pipe(ends) == 0, "pipe");
  pthread_create(&reader, NULL, take, &ends[0]);
  for (int i = 0; i < kTimes; ++i) await_room(ends[1], kFilling);
  pthread_join(reader, NULL);
}

static void full_pair(void) {
  int sides[2], room = kFilling;
  check(socketpair(AF_UNIX, SOCK_STREAM, 0, sides) == 0, "socketpair");
  setsockopt(sides[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
  const pid_t child = fork();
  if (child == 0) {
    close(sides[0]);
    take_all(sides[1], sizeof data);
    exit(0);
  }
  close(sides[1]);
  for (int i = 0; i < kTimes; ++i) await_room(sides[0], sizeof data);
  wait_for(child);
}

/* --- sockets that were connected --- */

__attribute__((noinline)) static void await_answer(int socket) {
  for (int i = 0; i < kTimes; ++i) {
    check(send(socket, "question", 8, 0) == 8, "send");
    check(recv(socket, data, 8, MSG_WAITALL) == 8, "recv");
  }
}

/* The address's size with the name or port that the system gave. */
static void connected(struct sockaddr* address, socklen_t size) {
  const int listening = socket(address->sa_family, SOCK_STREAM, 0);
  check(listening >= 0 && bind(listening, address, size) == 0, "bind");
  check(listen(listening, 1) == 0 && getsockname(listening, address, &size) == 0, "listen");
  const pid_t child = fork();
  if (child == 0) {
    const int to = socket(address->sa_family, SOCK_STREAM, 0);
    check(to >= 0 && connect(to, address, size) == 0, "connect");
    for (int i = 0; i < kTimes; ++i) {
      check(recv(to, data, 8, MSG_WAITALL) == 8, "recv");
      heavy();
      check(send(to, "answered", 8, 0) == 8, "send");
    }
    exit(0);
  }
  const int with = accept(listening, NULL, NULL);
  check(with >= 0, "accept");
  await_answer(with);
  wait_for(child);
}

static void tcp(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  connected((struct sockaddr*)&address, sizeof address);
}

static void local(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", name);
  connected((struct sockaddr*)&address, sizeof address);
  unlink(name);
}

__attribute__((noinline)) static void await_by_poll(int to) {
  fcntl(to, F_SETFL, O_NONBLOCK);
  for (size_t sent = 0; sent < (size_t)kTimes * kFilling;) {
    struct pollfd file = {to, POLLOUT, 0};
    check(poll(&file, 1, -1) == 1, "poll");
    const ssize_t now = write(to, data, kFilling);
    if (now > 0) sent += (size_t)now;
  }
}

static void polled(void) {
  int ends[2];
  check(pipe(ends) == 0, "pipe");
  const pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    take_all(ends[0], kFilling);
    exit(0);
  }
  close(ends[0]);
  await_by_poll(ends[1]);
  wait_for(child);
}

int main(int argc, char** argv) {
  static const struct {
    const char* how;
    void (*what)(void);
  } kCases[] = {
      {"barrier", barrier},
      {"rwlock", rwlock},
      {"futex", futex},
      {"one_address", one_address},
      {"named", named},
      {"full_pipe", full_pipe},
      {"full_pair", full_pair},
      {"polled", polled},
      {"tcp", tcp},
      {"local", local},
  };
  if (argc > 2 && strcmp(argv[1], "give") == 0) return give(argv[2]), 0;
  snprintf(name, sizeof name, "/tmp/culprit-shared.%ld", (long)getpid());
  for (size_t i = 0; argc > 1 && i < sizeof kCases / sizeof kCases[0]; ++i) {
    if (strcmp(argv[1], kCases[i].how) != 0) continue;
    kCases[i].what();
    puts("shared: done");
    return 0;
  }
  return 2;
}
