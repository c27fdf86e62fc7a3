/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * system <how>: main waits in await_...() for what another thread or process has computed in
 * heavy(): three times for 60 ms. They tell each other by what the system keeps (message queues,
 * semaphores, signals), or by C11's threads, or main waits for a spin lock. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <threads.h>
#include <unistd.h>

#include "heavy.h"

/* --- message queues --- */

static mqd_t posix_queue;

static void open_queue(void) {
  struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 8};
  snprintf(name, sizeof name, "/culprit-system.%ld", (long)getpid());
  posix_queue = mq_open(name, O_CREAT | O_RDWR, 0600, &attributes);
  check(posix_queue >= 0, "mq_open");
  mq_unlink(name);
}

static void* send_all(void* unused) {
  for (int i = 0; i < kTimes; ++i) {
    heavy();
    check(mq_send(posix_queue, "message", 8, 0) == 0, "mq_send");
  }
  return unused;
}

__attribute__((noinline)) static void await_message(void) {
  char text[8];
  for (int i = 0; i < kTimes; ++i) check(mq_receive(posix_queue, text, 8, NULL) == 8, "mq_receive");
}

static void queue(void) {
  pthread_t sender;
  open_queue();
  pthread_create(&sender, NULL, send_all, NULL);
  await_message();
  pthread_join(sender, NULL);
}

static void* receive_all(void* unused) {
  char text[8];
  for (int i = 0; i < kTimes + 1; ++i) {
    heavy();
    check(mq_receive(posix_queue, text, 8, NULL) == 8, "mq_receive");
  }
  return unused;
}

__attribute__((noinline)) static void await_room(void) {
  for (int i = 0; i < kTimes + 1; ++i) check(mq_send(posix_queue, "message", 8, 0) == 0, "mq_send");
}

static void full_queue(void) {
  pthread_t receiver;
  open_queue();
  pthread_create(&receiver, NULL, receive_all, NULL);
  await_room();
  pthread_join(receiver, NULL);
}

struct message {
  long type;
  char text[8];
};

__attribute__((noinline)) static void await_system_v(int id) {
  struct message message;
  for (int i = 0; i < kTimes; ++i) check(msgrcv(id, &message, 8, 0, 0) == 8, "msgrcv");
}

static void system_v_queue(void) {
  const int id = msgget(IPC_PRIVATE, 0600);
  check(id >= 0, "msgget");
  const pid_t child = fork();
  if (child == 0) {
    const struct message message = {1, "message"};
    for (int i = 0; i < kTimes; ++i) {
      heavy();
      check(msgsnd(id, &message, 8, 0) == 0, "msgsnd");
    }
    exit(0);
  }
  await_system_v(id);
  wait_for(child);
  msgctl(id, IPC_RMID, NULL);
}

/* --- semaphores: of the set, the last one is raised by a process that main does not wait for ---
 */

enum { kFirst, kSecond, kOther, kSemaphores };

static void change(int set, unsigned short number, short by) {
  struct sembuf operation = {number, by, 0};
  check(semop(set, &operation, 1) == 0, "semop");
}

static void with_semaphores(void (*compute)(int), void (*await)(int)) {
  const int set = semget(IPC_PRIVATE, kSemaphores, 0600);
  check(set >= 0, "semget");
  change(set, kSecond, kTimes);
  const pid_t other = fork();
  if (other == 0) {
    for (int i = 0; i < 8 * kTimes; ++i) {
      usleep(kMs * 1000 / 8);
      change(set, kOther, 1);
    }
    exit(0);
  }
  const pid_t child = fork();
  if (child == 0) {
    compute(set);
    exit(0);
  }
  await(set);
  wait_for(child);
  wait_for(other);
  semctl(set, 0, IPC_RMID);
}

static void raise_first(int set) {
  for (int i = 0; i < kTimes; ++i) {
    heavy();
    change(set, kFirst, 1);
  }
}
__attribute__((noinline)) static void await_raised(int set) {
  for (int i = 0; i < kTimes; ++i) change(set, kFirst, -1);
}
static void raised(void) {
  with_semaphores(raise_first, await_raised);
}

static void lower_second(int set) {
  for (int i = 0; i < kTimes; ++i) {
    heavy();
    change(set, kSecond, -1);
  }
}
__attribute__((noinline)) static void await_zero(int set) {
  change(set, kSecond, 0);
}
static void zero(void) {
  with_semaphores(lower_second, await_zero);
}

/* --- signals --- */

static void take_it(int number) {
  (void)number;
}

static void with_signals(void (*await)(const sigset_t*)) {
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, &before);
  signal(SIGUSR1, take_it);
  const pid_t parent = getpid(), child = fork();
  if (child == 0) {
    for (int i = 0; i < kTimes; ++i) {
      heavy();
      check(kill(parent, SIGUSR1) == 0, "kill");
    }
    exit(0);
  }
  for (int i = 0; i < kTimes; ++i) await(&set);
  wait_for(child);
}

__attribute__((noinline)) static void await_signal(const sigset_t* set) {
  int number;
  check(sigwait(set, &number) == 0 && number == SIGUSR1, "sigwait");
}
static void signal_taken(void) {
  with_signals(await_signal);
}

__attribute__((noinline)) static void await_handler(const sigset_t* set) {
  sigset_t others;
  sigfillset(&others);
  sigdelset(&others, SIGUSR1);
  check(sigsuspend(&others) == -1 && sigismember(set, SIGUSR1), "sigsuspend");
}
static void signal_handled(void) {
  with_signals(await_handler);
}

/* --- C11's threads --- */

static mtx_t mutex;
static cnd_t condition;
static int made = 0;

static int make_all(void* unused) {
  (void)unused;
  for (int i = 0; i < kTimes; ++i) {
    heavy();
    mtx_lock(&mutex);
    ++made;
    cnd_signal(&condition);
    mtx_unlock(&mutex);
  }
  return kTimes;
}

__attribute__((noinline)) static void await_made(void) {
  mtx_lock(&mutex);
  for (int i = 1; i <= kTimes; ++i) {
    while (made < i) cnd_wait(&condition, &mutex);
  }
  mtx_unlock(&mutex);
}

static void c11(void) {
  thrd_t maker;
  int result = 0;
  mtx_init(&mutex, mtx_plain);
  cnd_init(&condition);
  check(thrd_create(&maker, make_all, NULL) == thrd_success, "thrd_create");
  await_made();
  check(thrd_join(maker, &result) == thrd_success && result == kTimes, "thrd_join");
}

static int hold_all(void* unused) {
  (void)unused;
  for (int i = 0; i < kTimes; ++i) {
    mtx_lock(&mutex);
    made = 1;
    heavy();
    mtx_unlock(&mutex);
    usleep(20000);
  }
  return 0;
}

__attribute__((noinline)) static void await_c11_lock(void) {
  mtx_lock(&mutex);
  mtx_unlock(&mutex);
}

static void c11_lock(void) {
  thrd_t holder;
  mtx_init(&mutex, mtx_plain);
  check(thrd_create(&holder, hold_all, NULL) == thrd_success, "thrd_create");
  while (!*(volatile int*)&made) usleep(100);
  for (int i = 0; i < kTimes; ++i) {
    await_c11_lock();
    usleep(30000);
  }
  thrd_join(holder, NULL);
}

/* --- a spin lock --- */

static pthread_spinlock_t spin;

static void* hold_spin(void* unused) {
  for (int i = 0; i < kTimes; ++i) {
    pthread_spin_lock(&spin);
    *(volatile int*)&made = 1;
    heavy();
    pthread_spin_unlock(&spin);
    usleep(20000);
  }
  return unused;
}

__attribute__((noinline)) static void await_spin(void) {
  pthread_spin_lock(&spin);
  pthread_spin_unlock(&spin);
}

static void spin_lock(void) {
  pthread_t holder;
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  pthread_create(&holder, NULL, hold_spin, NULL);
  while (!*(volatile int*)&made) usleep(100);
  for (int i = 0; i < kTimes; ++i) {
    await_spin();
    usleep(30000);
  }
  pthread_join(holder, NULL);
}

int main(int argc, char** argv) {
  static const struct {
    const char* how;
    void (*what)(void);
  } kCases[] = {
      {"queue", queue},
      {"full_queue", full_queue},
      {"system_v_queue", system_v_queue},
      {"raised", raised},
      {"zero", zero},
      {"signal", signal_taken},
      {"handler", signal_handled},
      {"c11", c11},
      {"c11_lock", c11_lock},
      {"spin_lock", spin_lock},
  };
  for (size_t i = 0; argc > 1 && i < sizeof kCases / sizeof kCases[0]; ++i) {
    if (strcmp(argv[1], kCases[i].how) != 0) continue;
    kCases[i].what();
    puts("system: done");
    return 0;
  }
  return 2;
}
