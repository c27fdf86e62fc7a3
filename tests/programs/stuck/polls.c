/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * polls <case> <folder>: two ranks that hang although no call of MPI is open, or in something else
 * than MPI. The line at which each of them hangs says so in a comment, which hangs.py reads. */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static int rank;
static int number, other_number;
static volatile int flag;
static volatile double sum;
static const char* folder;
#define WORLD MPI_COMM_WORLD

static void recv_from(int source, int tag) {
  MPI_Recv(&number, 1, MPI_INT, source, tag, WORLD, MPI_STATUS_IGNORE);
}
static void test(MPI_Request* request) {
  int done = 0;
  while (!done)
    MPI_Test(request, &done, MPI_STATUS_IGNORE); /* hangs: test_loop test_send test_gone */
}

static void test_loop(void) {
  MPI_Request request;
  if (rank == 1) recv_from(0, 7);
  MPI_Irecv(&number, 1, MPI_INT, 1, 4, WORLD, &request);
  test(&request);
}
static void testall_loop(void) {
  MPI_Request requests[2];
  int done = 0;
  if (rank == 1) recv_from(0, 7);
  MPI_Irecv(&number, 1, MPI_INT, 1, 4, WORLD, &requests[0]);
  MPI_Irecv(&other_number, 1, MPI_INT, 1, 5, WORLD, &requests[1]);
  while (!done) {
    MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE); /* hangs: testall_loop */
    usleep(100);
  }
}
static void probe(void) {
  int found = 0;
  while (!found)
    MPI_Iprobe(MPI_ANY_SOURCE, 4, WORLD, &found, MPI_STATUS_IGNORE); /* hangs: iprobe_loop */
}
static void iprobe_loop(void) {
  if (rank == 1) recv_from(0, 7);
  probe();
}
static void iprobe_slow(void) {
  if (rank == 0) probe();
  for (;;) sum = sum + 1;
}
static void test_send(void) {
  MPI_Request request;
  if (rank == 1) recv_from(0, 7);
  MPI_Issend(&number, 1, MPI_INT, 1, 4, WORLD, &request);
  test(&request);
}
static void test_gone(void) {
  MPI_Request request;
  if (rank == 1) return;
  MPI_Irecv(&number, 1, MPI_INT, 1, 4, WORLD, &request);
  test(&request);
}

#if MPI_VERSION >= 4
enum { kPartitions = 4 };
static char bytes[kPartitions];
static void without_last_partition(MPI_Request* request) {
  MPI_Psend_init(bytes, kPartitions, 1, MPI_CHAR, 1, 4, WORLD, MPI_INFO_NULL, request);
  MPI_Start(request);
  for (int i = 0; i < kPartitions - 1; ++i) MPI_Pready(i, *request);
}
static void pready(void) {
  MPI_Request request;
  if (rank == 0) {
    without_last_partition(&request);
    recv_from(1, 7);
  } else {
    MPI_Precv_init(bytes, kPartitions, 1, MPI_CHAR, 0, 4, WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE); /* hangs: pready */
  }
}
static void parrived(void) {
  MPI_Request request;
  int come = 0;
  if (rank == 0) {
    without_last_partition(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Precv_init(bytes, kPartitions, 1, MPI_CHAR, 0, 4, WORLD, MPI_INFO_NULL, &request);
    MPI_Start(&request);
    while (!come) MPI_Parrived(request, kPartitions - 1, &come); /* hangs: parrived */
  }
}
#endif

static void thread_and_barrier(void) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  if (rank == 0) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&mutex); /* hangs: thread_and_barrier */
  }
  MPI_Barrier(WORLD);
}
static void pipe_and_barrier(void) {
  char path[4096], byte;
  snprintf(path, sizeof path, "%s/empty", folder);
  if (rank == 0) {
    int ends[2];
    if (pipe(ends) != 0) return;
    if (fork() == 0) {
      sleep(1000);
      _exit(0);
    }
    if (read(ends[0], &byte, 1) < 0) return; /* hangs: pipe_and_barrier */
  }
  MPI_Barrier(WORLD);
}
static void spin_and_barrier(void) {
  if (rank == 0) {
    while (!flag) { /* hangs: spin_and_barrier */
    }
  }
  MPI_Barrier(WORLD);
}
static void two_flocks(void) {
  int files[2];
  for (int i = 0; i < 2; ++i) {
    char path[4096];
    snprintf(path, sizeof path, "%s/lock%d", folder, i);
    files[i] = open(path, O_RDWR | O_CREAT, 0600);
  }
  flock(files[rank], LOCK_EX);
  MPI_Barrier(WORLD);
  flock(files[1 - rank], LOCK_EX); /* hangs: two_flocks */
}

static const struct {
  const char* name;
  void (*run)(void);
} kCases[] = {
#define CASE(name) {#name, name}
    CASE(test_loop),
    CASE(testall_loop),
    CASE(iprobe_loop),
    CASE(iprobe_slow),
    CASE(test_send),
    CASE(test_gone),
#if MPI_VERSION >= 4
    CASE(pready),
    CASE(parrived),
#endif
    CASE(thread_and_barrier),
    CASE(pipe_and_barrier),
    CASE(spin_and_barrier),
    CASE(two_flocks)};

int main(int argc, char** argv) {
  int level;
  if (argc < 3) return 2;
  alarm(60);
  folder = argv[2];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(WORLD, &rank);
  MPI_Barrier(WORLD);
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; ++i) {
    if (strcmp(kCases[i].name, argv[1]) == 0) kCases[i].run();
  }
  MPI_Finalize();
  return 0;
}
