/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * alone <what>...: each word in turn. `produce`: a thread makes five things, 40 ms each, for which
 * the first one waits; `idle`: a thread that ends at once; `fork`: the rest happens in a child,
 * whose status is passed on; `pool`: two children assemble a thing five times, without threads;
 * `execute`: a child becomes true(1); `again`: the program becomes itself, with the rest of the
 * words; a number: the status. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t made = PTHREAD_COND_INITIALIZER;
static int things = 0;
static volatile unsigned long work = 0;

__attribute__((noinline)) static void assemble_thing(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  const long end = now.tv_sec * 1000000000l + now.tv_nsec + 40000000l;
  do {
    for (int i = 0; i < 10000; ++i) work = work * 3 + 1;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  } while (now.tv_sec * 1000000000l + now.tv_nsec < end);
}

static void* make_things(void* nothing) {
  for (int i = 0; i < 5; ++i) {
    assemble_thing();
    pthread_mutex_lock(&mutex);
    ++things;
    pthread_cond_signal(&made);
    pthread_mutex_unlock(&mutex);
  }
  return nothing;
}

static void* end_at_once(void* nothing) {
  return nothing;
}

static void produce(void) {
  pthread_t maker;
  things = 0;
  pthread_create(&maker, NULL, make_things, NULL);
  pthread_mutex_lock(&mutex);
  while (things < 5) pthread_cond_wait(&made, &mutex);
  pthread_mutex_unlock(&mutex);
  pthread_join(maker, NULL);
}

static void idle(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, end_at_once, NULL);
  pthread_join(thread, NULL);
}

/* Children end as Python's do. */
static void pool(void) {
  pid_t workers[2];
  for (int i = 0; i < 2; ++i) {
    workers[i] = fork();
    if (workers[i] != 0) continue;
    for (int k = 0; k < 5; ++k) assemble_thing();
    _exit(0);
  }
  for (int i = 0; i < 2; ++i) waitpid(workers[i], NULL, 0);
}

static void execute(void) {
  const pid_t child = fork();
  if (child == 0) {
    execlp("true", "true", NULL);
    _exit(127);
  }
  waitpid(child, NULL, 0);
}

int main(int argc, char** argv) {
  int status = 0;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "produce") == 0) {
      produce();
    } else if (strcmp(argv[i], "idle") == 0) {
      idle();
    } else if (strcmp(argv[i], "fork") == 0) {
      const pid_t child = fork();
      int ended = 0;
      if (child != 0) {
        waitpid(child, &ended, 0);
        return WEXITSTATUS(ended);
      }
    } else if (strcmp(argv[i], "pool") == 0) {
      pool();
    } else if (strcmp(argv[i], "execute") == 0) {
      execute();
    } else if (strcmp(argv[i], "again") == 0) {
      argv[i] = argv[0];
      execv(argv[0], argv + i);
      return 127;
    } else {
      status = atoi(argv[i]);
    }
  }
  printf("alone: done\n");
  return status;
}
