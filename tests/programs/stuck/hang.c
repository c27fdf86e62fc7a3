/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * hang <case>: programs that do not go on, each for a reason of its own, and some that are only
 * slow. An alarm ends each rank after a while, as a batch system would. What is stuck, and who
 * waits for whom, follows from the case alone; stuck.py says it. */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kLarge = 1 << 20 };
static int rank, size;
static char large[kLarge], other[kLarge];
static int number;
#define WORLD MPI_COMM_WORLD

static void compute(void) {
  volatile double sum = 0;
  for (;;) sum += 1;
}
static void recv_from(int source, int tag) {
  MPI_Recv(&number, 1, MPI_INT, source, tag, WORLD, MPI_STATUS_IGNORE);
}
static void send_to(int target, int tag) {
  MPI_Send(&number, 1, MPI_INT, target, tag, WORLD);
}
static int next(void) {
  return (rank + 1) % size;
}
static int previous(void) {
  return (rank + size - 1) % size;
}

/* --- messages --- */
static void recv_recv(void) {
  recv_from(1 - rank, 7);
}
static void ring(void) {
  recv_from(previous(), 3);
}
static void ssend_ssend(void) {
  MPI_Ssend(&number, 1, MPI_INT, 1 - rank, 7, WORLD);
}
static void large_sends(void) {
  MPI_Send(large, kLarge, MPI_CHAR, 1 - rank, 1, WORLD);
  MPI_Recv(other, kLarge, MPI_CHAR, 1 - rank, 1, WORLD, MPI_STATUS_IGNORE);
}
static void after_much(void) { /* the sums of a thousand messages before do not matter */
  for (int i = 0; i < 1000; ++i) {
    if (rank == 0)
      send_to(1, i % 5);
    else
      recv_from(0, i % 5);
  }
  recv_from(1 - rank, 2);
}
static void wrong_tag(void) {
  if (rank == 0) {
    recv_from(1, 7);
  } else {
    send_to(0, 8);
  }
  MPI_Barrier(WORLD);
}
static void wrong_comm(void) {
  MPI_Comm copy;
  MPI_Comm_dup(WORLD, &copy);
  if (rank == 0) {
    MPI_Recv(&number, 1, MPI_INT, 1, 7, copy, MPI_STATUS_IGNORE);
  } else {
    send_to(0, 7);
  }
  MPI_Barrier(WORLD);
}
static void any_source(void) {
  MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, MPI_STATUS_IGNORE);
}
static void any_source_slow(void) { /* rank 1 may yet send */
  if (rank == 0) any_source();
  if (rank == 1) compute();
  if (rank == 2) recv_from(0, 1);
}
static void probes(void) {
  MPI_Probe(1 - rank, 5, WORLD, MPI_STATUS_IGNORE);
}
static void probed_twice(void) { /* the message is there: rank 1 is only slow to take it */
  if (rank == 0) {
    send_to(1, 5);
    recv_from(1, 6);
  } else {
    MPI_Probe(0, 5, WORLD, MPI_STATUS_IGNORE);
    compute();
  }
}
static void sendrecvs(void) { /* each sends to the right and receives from there */
  MPI_Sendrecv(&number, 1, MPI_INT, next(), 1, large, 1, MPI_INT, next(), 1, WORLD,
               MPI_STATUS_IGNORE);
}
static void to_itself(void) {
  if (rank == 0) MPI_Ssend(&number, 1, MPI_INT, 0, 1, WORLD);
  MPI_Barrier(WORLD);
}
static void gone(void) {
  if (rank == 0) recv_from(1, 7);
}
static void leaves(void) {
  if (rank == 1) exit(3);
  recv_from(1, 7);
}
static void behind(void) {
  if (rank < 2)
    recv_from(1 - rank, 7);
  else
    recv_from(0, 7);
}
static void two_pairs(void) {
  recv_from(rank ^ 1, 7);
}

/* --- requests --- */
static void irecv_wait(void) {
  MPI_Request request;
  MPI_Irecv(&number, 1, MPI_INT, 1 - rank, 4, WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void issend_waitall(void) {
  MPI_Request requests[2];
  MPI_Issend(&number, 1, MPI_INT, next(), 4, WORLD, &requests[0]);
  MPI_Irecv(large, 1, MPI_INT, previous(), 5, WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}
static void waitany(void) {
  MPI_Request requests[2];
  for (int i = 0; i < 2; ++i)
    MPI_Irecv(&large[8 * i], 1, MPI_INT, 1 - rank, i, WORLD, &requests[i]);
  int index;
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
}
static void persistent(void) {
  MPI_Request request;
  MPI_Recv_init(&number, 1, MPI_INT, 1 - rank, 4, WORLD, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}
static void posted(void) { /* the receive is posted: rank 1 only computes before it waits */
  MPI_Request request;
  if (rank == 0) {
    MPI_Ssend(&number, 1, MPI_INT, 1, 4, WORLD);
    recv_from(1, 5);
  } else {
    MPI_Irecv(&number, 1, MPI_INT, 0, 4, WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    compute();
  }
}

/* --- collectives --- */
static void barrier_recv(void) {
  if (rank == 0)
    MPI_Barrier(WORLD);
  else
    recv_from(0, 7);
}
static void mismatch(void) {
  if (rank == 0) MPI_Allreduce(large, other, 8, MPI_CHAR, MPI_MAX, WORLD);
  if (rank == 1) MPI_Barrier(MPI_COMM_SELF);
  if (rank == 1) MPI_Alltoall(large, kLarge / 2, MPI_CHAR, other, kLarge / 2, MPI_CHAR, WORLD);
  if (rank == 0) recv_from(1, 7);
}
static void imismatch(void) {
  MPI_Request request;
  if (rank == 0) MPI_Iallgather(large, 1, MPI_CHAR, other, 1, MPI_CHAR, WORLD, &request);
  if (rank == 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Allreduce(large, other, 8, MPI_CHAR, MPI_MAX, WORLD);
}
static void order_of_comms(void) {
  MPI_Comm copy;
  MPI_Comm_dup(WORLD, &copy);
  MPI_Barrier(rank == 0 ? WORLD : copy);
  MPI_Barrier(rank == 0 ? copy : WORLD);
}
static void roots(void) {
  MPI_Bcast(large, kLarge, MPI_CHAR, 1 - rank, WORLD);
}
static void ibarrier(void) {
  MPI_Request request;
  if (rank == 0) {
    MPI_Ibarrier(WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    recv_from(0, 7);
  }
}
static void comm_dup(void) {
  MPI_Comm copy;
  if (rank == 0)
    MPI_Comm_dup(WORLD, &copy);
  else
    recv_from(0, 7);
}
static void subset(
    void) { /* ranks 0 and 1 meet in a communicator of their own, in which rank 1 never comes */
  MPI_Comm part;
  MPI_Comm_split(WORLD, rank / 2, 0, &part);
  if (rank == 0) MPI_Barrier(part);
  if (rank == 1) recv_from(0, 7);
  if (rank >= 2) compute();
}
static void slow_barrier(void) {
  if (rank == 0) compute();
  MPI_Barrier(WORLD);
}

/* --- windows, files --- */
static MPI_Win window(void) {
  MPI_Win win;
  MPI_Win_create(large, kLarge, 1, MPI_INFO_NULL, WORLD, &win);
  return win;
}
static void fence(void) {
  MPI_Win win = window();
  if (rank == 0)
    MPI_Win_fence(0, win);
  else
    recv_from(0, 7);
}
static void start_without_post(void) {
  MPI_Win win = window();
  MPI_Group all, peer;
  const int who = 1;
  MPI_Comm_group(WORLD, &all);
  MPI_Group_incl(all, 1, &who, &peer);
  if (rank == 0) {
    MPI_Win_start(peer, 0, win);
    MPI_Put(large, 1, MPI_CHAR, 1, 0, 1, MPI_CHAR, win);
    MPI_Win_complete(win);
  } else {
    recv_from(0, 7);
  }
}
static void wait_without_complete(void) {
  MPI_Win win = window();
  MPI_Group all, peer;
  const int who = 1 - rank;
  MPI_Comm_group(WORLD, &all);
  MPI_Group_incl(all, 1, &who, &peer);
  if (rank == 0) {
    MPI_Win_start(peer, 0, win);
    recv_from(1, 7);
  } else {
    MPI_Win_post(peer, 0, win);
    MPI_Win_wait(win);
  }
}
static void win_create(void) {
  if (rank == 0)
    window();
  else
    recv_from(0, 7);
}
static void file_open(void) {
  MPI_File file;
  if (rank == 0) {
    MPI_File_open(WORLD, "/tmp/culprit-hang",
                  MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file);
  } else {
    recv_from(0, 7);
  }
}

/* --- only slow --- */
static void slow(void) {
  if (rank == 0)
    recv_from(1, 7);
  else
    compute();
}
static void chain(void) {
  if (rank == 0)
    compute();
  else
    recv_from(rank - 1, 7);
}

/* --- threads --- */
static void two_locks(void) {
  static omp_lock_t locks[2];
  for (int i = 0; i < 2; ++i) omp_init_lock(&locks[i]);
#pragma omp parallel num_threads(2)
  {
    const int own = omp_get_thread_num();
    omp_set_lock(&locks[own]);
#pragma omp barrier
    omp_set_lock(&locks[1 - own]);
  }
}
static void lock_twice(void) {
  omp_lock_t lock;
  omp_init_lock(&lock);
  omp_set_lock(&lock);
  omp_set_lock(&lock);
}
static void lock_and_barrier(void) {
  static omp_lock_t lock;
  omp_init_lock(&lock);
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 0) omp_set_lock(&lock);
    usleep(100000 * omp_get_thread_num());
    if (omp_get_thread_num() == 1) omp_set_lock(&lock);
#pragma omp barrier
  }
}
static void across(
    void) { /* threads of rank 0 and rank 1 wait for each other over a critical section */
  if (rank == 1) {
    recv_from(0, 2);
    send_to(0, 1);
    return;
  }
#pragma omp parallel num_threads(2)
  {
    usleep(200000 * omp_get_thread_num());
#pragma omp critical
    {
      if (omp_get_thread_num() == 0)
        recv_from(1, 1);
      else
        send_to(1, 2);
    }
  }
}
/* Thread 0 creates a task, and waits for it once thread 1 is in it. */
static void task_of_the_other(void (*first)(void), void (*task)(void), void (*last)(void)) {
  volatile int taken = 0;
#pragma omp parallel num_threads(2)
#pragma omp master
  {
    first();
#pragma omp task shared(taken)
    {
      taken = 1;
      task();
    }
    while (!taken) usleep(1000);
#pragma omp taskwait
    last();
  }
}
static omp_lock_t of_task;
static void take_lock(void) {
  omp_set_lock(&of_task);
}
static void nothing(void) {}
static void task_and_lock(void) {
  omp_init_lock(&of_task);
  task_of_the_other(take_lock, take_lock, nothing);
}
static void receive_answer(void) {
  recv_from(1, 1);
}
static void send_question(void) {
  send_to(1, 2);
}
static void task_across(
    void) { /* rank 0's task waits for what rank 1 answers to what comes after it */
  if (rank == 1) {
    recv_from(0, 2);
    send_to(0, 1);
    return;
  }
  task_of_the_other(nothing, receive_answer, send_question);
}
static void slow_task(void) {
  task_of_the_other(nothing, compute, nothing);
}
static void slow_thread(void) {
#pragma omp parallel num_threads(2)
  {
    if (omp_get_thread_num() == 1) compute();
  }
}

static const struct {
  const char* name;
  void (*run)(void);
} kCases[] = {
#define CASE(name) {#name, name}
    CASE(recv_recv),
    CASE(ring),
    CASE(ssend_ssend),
    CASE(large_sends),
    CASE(after_much),
    CASE(wrong_tag),
    CASE(wrong_comm),
    CASE(any_source),
    CASE(any_source_slow),
    CASE(probes),
    CASE(probed_twice),
    CASE(sendrecvs),
    CASE(to_itself),
    CASE(gone),
    CASE(leaves),
    CASE(behind),
    CASE(two_pairs),
    CASE(irecv_wait),
    CASE(issend_waitall),
    CASE(waitany),
    CASE(persistent),
    CASE(posted),
    CASE(barrier_recv),
    CASE(mismatch),
    CASE(imismatch),
    CASE(order_of_comms),
    CASE(roots),
    CASE(ibarrier),
    CASE(comm_dup),
    CASE(subset),
    CASE(slow_barrier),
    CASE(fence),
    CASE(start_without_post),
    CASE(wait_without_complete),
    CASE(win_create),
    CASE(file_open),
    CASE(slow),
    CASE(chain),
    CASE(two_locks),
    CASE(lock_twice),
    CASE(lock_and_barrier),
    CASE(across),
    CASE(task_and_lock),
    CASE(task_across),
    CASE(slow_task),
    CASE(slow_thread)};

int main(int argc, char** argv) {
  int level;
  alarm(3); /* also where MPI_Init itself hangs */
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(WORLD, &rank);
  MPI_Comm_size(WORLD, &size);
  MPI_Barrier(WORLD);
  alarm(argc > 2 ? (unsigned)atoi(argv[2]) : 1);
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; ++i) {
    if (argc > 1 && strcmp(kCases[i].name, argv[1]) == 0) kCases[i].run();
  }
  MPI_Finalize();
  return 0;
}
