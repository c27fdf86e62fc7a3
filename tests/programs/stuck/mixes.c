/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * mixes <case> <folder>: two ranks that hang where MPI meets threads, OpenMP, files, pipes, sockets
 * and windows, and loops that ask MPI for ever. The line at which each of them hangs says so in a
 * comment, which hangs.py reads. */
#include <fcntl.h>
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int rank;
static int number;
static const char* folder;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
#define WORLD MPI_COMM_WORLD

static void recv_from(int source, int tag) {
  MPI_Recv(&number, 1, MPI_INT, source, tag, WORLD, MPI_STATUS_IGNORE);
}
static void path_of(const char* name, char* path) {
  snprintf(path, 4096, "%s/%s", folder, name);
}

/* --- threads of the system --- */

static void* receive(void* unused) {
  recv_from(1 - rank, 4); /* hangs: joins_receiver */
  return unused;
}
static void joins_receiver(void) {
  pthread_t thread;
  if (rank == 0) {
    pthread_create(&thread, NULL, receive, NULL);
    pthread_join(thread, NULL); /* hangs: joins_receiver */
  }
  MPI_Barrier(WORLD);
}
static void* receive_locked(void* unused) {
  pthread_mutex_lock(&mutex);
  recv_from(1, 4);
  pthread_mutex_unlock(&mutex);
  return unused;
}
static void mutex_over_recv(void) {
  pthread_t thread;
  if (rank == 0) {
    pthread_create(&thread, NULL, receive_locked, NULL);
    usleep(200000);
    pthread_mutex_lock(&mutex); /* hangs: mutex_over_recv */
    MPI_Send(&number, 1, MPI_INT, 1, 4, WORLD);
  } else {
    recv_from(0, 4);
    MPI_Send(&number, 1, MPI_INT, 0, 4, WORLD);
  }
}
static void* serve(void* unused) {
  recv_from(MPI_ANY_SOURCE, 99);
  return unused;
}
static void servers(void) { /* nobody tells them to end */
  pthread_t thread;
  pthread_create(&thread, NULL, serve, NULL);
  pthread_join(thread, NULL); /* hangs: servers */
}

/* --- OpenMP --- */

static void read_from_itself(void) {
  int ends[2];
  char byte;
  if (pipe(ends) != 0) return;
  if (read(ends[0], &byte, 1) < 0) return; /* hangs: worker_reads */
}
static void worker_reads(void) {
  if (rank == 0) {
#pragma omp parallel num_threads(2)
    if (omp_get_thread_num() == 1) read_from_itself();
  }
  MPI_Barrier(WORLD);
}
static void recv_in_task(void) {
  if (rank == 0) {
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task
      recv_from(1, 4);
#pragma omp taskwait
    }
  }
  MPI_Barrier(WORLD); /* hangs: recv_in_task */
}

/* --- asking for ever --- */

static void testany_loop(void) {
  MPI_Request requests[2];
  int which, done = 0;
  if (rank == 1) recv_from(0, 7);
  MPI_Irecv(&number, 1, MPI_INT, 1, 4, WORLD, &requests[0]);
  MPI_Irecv(&number, 1, MPI_INT, 1, 5, WORLD, &requests[1]);
  while (!done)
    MPI_Testany(2, requests, &which, &done, MPI_STATUS_IGNORE); /* hangs: testany_loop */
}
static void testsome_loop(void) {
  MPI_Request request;
  MPI_Status status;
  int which, done = 0;
  if (rank == 1) recv_from(0, 7);
  MPI_Irecv(&number, 1, MPI_INT, 1, 4, WORLD, &request);
  while (!done) {
    MPI_Testsome(1, &request, &done, &which, &status); /* hangs: testsome_loop */
    usleep(500);
  }
}
static void get_status_loop(void) {
  MPI_Request request;
  int done = 0;
  if (rank == 1) recv_from(0, 7);
  MPI_Irecv(&number, 1, MPI_INT, 1, 4, WORLD, &request);
  while (!done)
    MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE); /* hangs: get_status_loop */
}
static void improbe_loop(void) {
  MPI_Message message;
  int found = 0;
  if (rank == 1) recv_from(0, 7);
  while (!found)
    MPI_Improbe(1, 4, WORLD, &found, &message, MPI_STATUS_IGNORE); /* hangs: improbe_loop */
}
static void test_collective(void) {
  MPI_Request request;
  int done = 0;
  if (rank == 1) recv_from(0, 7);
  MPI_Ibarrier(WORLD, &request);
  while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE); /* hangs: test_collective */
}
static void word_of_window(void) { /* nobody sets it */
  MPI_Win window;
  int *word, zero = 0, seen = 0;
  MPI_Win_allocate(sizeof *word, sizeof *word, MPI_INFO_NULL, WORLD, &word, &window);
  MPI_Win_lock_all(0, window);
  *word = 0;
  MPI_Barrier(WORLD);
  if (rank == 0) {
    while (seen == 0) {
      MPI_Fetch_and_op(&zero, &seen, MPI_INT, 0, 0, MPI_NO_OP, window); /* hangs: word_of_window */
      MPI_Win_flush(0, window);                                         /* hangs: word_of_window */
    }
  }
  MPI_Win_unlock_all(window);
  MPI_Barrier(WORLD);
}
static void shared_word(void) {
  MPI_Win window;
  int* word;
  MPI_Win_allocate_shared(sizeof *word, sizeof *word, MPI_INFO_NULL, WORLD, &word, &window);
  MPI_Win_lock_all(0, window);
  *word = 0;
  MPI_Barrier(WORLD);
  while (rank == 0 && *(volatile int*)word == 0) MPI_Win_sync(window); /* hangs: shared_word */
  MPI_Barrier(WORLD);
}
static void win_locks(void) {
  MPI_Win window;
  int* word;
  MPI_Win_allocate(sizeof *word, sizeof *word, MPI_INFO_NULL, WORLD, &word, &window);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, window);
  MPI_Get(&number, 1, MPI_INT, rank, 0, 1, MPI_INT, window);
  MPI_Win_flush(rank, window);
  MPI_Barrier(WORLD);
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, window); /* hangs: win_locks */
    MPI_Get(&number, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
    MPI_Win_unlock(1, window); /* hangs: win_locks */
  } else {
    recv_from(0, 4);
  }
}

/* --- files, pipes, sockets, other programs --- */

static void file_to_come(void) {
  char path[4096];
  path_of("ready", path);
  while (rank == 0 && access(path, F_OK) != 0) usleep(1000); /* hangs: file_to_come */
  MPI_Barrier(WORLD);
}
static void fcntl_and_recv(void) {
  char path[4096];
  path_of("locked", path);
  const int file = open(path, O_RDWR | O_CREAT, 0600);
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (rank == 1) fcntl(file, F_SETLKW, &lock);
  MPI_Barrier(WORLD);
  if (rank == 1) recv_from(0, 4);
  fcntl(file, F_SETLKW, &lock); /* hangs: fcntl_and_recv */
}
static void fifo_between(void) {
  char path[4096], byte;
  path_of("between", path);
  if (rank == 0) mkfifo(path, 0600);
  MPI_Barrier(WORLD);
  const int file = open(path, rank == 0 ? O_RDONLY : O_WRONLY);
  if (rank == 1) recv_from(0, 4);
  if (read(file, &byte, 1) < 0) return; /* hangs: fifo_between */
}
static int connection(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", folder);
  const int file = socket(AF_UNIX, SOCK_STREAM, 0);
  if (rank == 0) {
    if (bind(file, (struct sockaddr*)&address, sizeof address) != 0) return -1;
    listen(file, 1);
  }
  MPI_Barrier(WORLD);
  if (rank == 0) return accept(file, NULL, NULL);
  return connect(file, (struct sockaddr*)&address, sizeof address) == 0 ? file : -1;
}
static void socket_between(void) {
  char byte;
  const int file = connection();
  if (recv(file, &byte, 1, 0) < 0) return; /* hangs: socket_between */
}
static void accepts(void) {
  char port[MPI_MAX_PORT_NAME];
  MPI_Comm other;
  if (rank == 0) {
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other); /* hangs: accepts */
  }
  MPI_Barrier(WORLD);
}

static const struct {
  const char* name;
  void (*run)(void);
} kCases[] = {
#define CASE(name) {#name, name}
    CASE(joins_receiver), CASE(mutex_over_recv), CASE(servers),        CASE(worker_reads),
    CASE(recv_in_task),   CASE(testany_loop),    CASE(testsome_loop),  CASE(get_status_loop),
    CASE(improbe_loop),   CASE(test_collective), CASE(word_of_window), CASE(shared_word),
    CASE(win_locks),      CASE(file_to_come),    CASE(fcntl_and_recv), CASE(fifo_between),
    CASE(socket_between), CASE(accepts)};

int main(int argc, char** argv) {
  int level;
  if (argc < 3) return 2;
  alarm(60);
  folder = argv[2];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(WORLD, &rank);
  MPI_Barrier(WORLD);
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; ++i) {
    if (strcmp(kCases[i].name, argv[1]) == 0) kCases[i].run();
  }
  MPI_Finalize();
  return 0;
}
