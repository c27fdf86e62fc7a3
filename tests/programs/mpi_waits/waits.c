// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// One wait of MPI by construction for each name: somebody sleeps, and it is known who waits for it,
// where, and how long. Sleeping ranks need no core. mpi_waits.py has the answers.
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int rank, size;

static void nap(double seconds) {
  struct timespec rest = {(time_t)seconds, (long)((seconds - (long)seconds) * 1e9)};
  while (nanosleep(&rest, &rest) != 0) {
  }
}

static void late_sender(void) {
  int x = 1;
  if (rank == 0) {
    nap(0.3);
    MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/* What all have opened, so that nobody waits for that. */
static int open_fifo(void) {
  char name[64] = "";
  if (rank == 0) {
    snprintf(name, sizeof name, "/tmp/culprit-waits.%ld", (long)getpid());
    if (mkfifo(name, 0600) != 0) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  const int file = open(name, O_RDWR);
  if (file < 0) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) unlink(name);
  return file;
}

static void fifo(void) {
  char x = 1;
  const int file = open_fifo();
  if (rank == 0) {
    nap(0.3);
    if (write(file, &x, 1) != 1) MPI_Abort(MPI_COMM_WORLD, 1);
  } else if (rank == 1) {
    if (read(file, &x, 1) != 1) MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Who is late has waited itself. */
static void fifo_chain(void) {
  char x = 1;
  const int file = open_fifo();
  if (rank == 0) {
    nap(0.3);
    if (write(file, &x, 1) != 1) MPI_Abort(MPI_COMM_WORLD, 1);
  } else if (rank == 1) {
    if (read(file, &x, 1) != 1) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Send(&x, 1, MPI_CHAR, 2, 0, MPI_COMM_WORLD);
  } else if (rank == 2) {
    MPI_Recv(&x, 1, MPI_CHAR, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void wrong_order(void) {
  int x = 1, y = 2;
  if (rank == 0) {
    MPI_Send(&x, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    nap(0.3);
    MPI_Send(&y, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
  } else if (rank == 1) {
    nap(0.05);  // the first is on its way
    MPI_Recv(&y, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(&x, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/* One sweep over a grid from low coordinates to high ones, or back: blocks of 0.1 s. */
static void sweep_once(MPI_Comm grid, int up) {
  for (int block = 0; block < 2; ++block) {
    int x = block, from[2], to[2];
    for (int d = 0; d < 2; ++d) {
      MPI_Cart_shift(grid, d, up ? 1 : -1, &from[d], &to[d]);
      if (from[d] != MPI_PROC_NULL) MPI_Recv(&x, 1, MPI_INT, from[d], 0, grid, MPI_STATUS_IGNORE);
    }
    nap(0.1);
    for (int d = 0; d < 2; ++d) {
      if (to[d] != MPI_PROC_NULL) MPI_Send(&x, 1, MPI_INT, to[d], 0, grid);
    }
  }
}

static void sweeps(void) {
  const int sizes[2] = {2, 2}, periodic[2] = {0, 0};
  MPI_Comm grid;
  MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, periodic, 0, &grid);
  MPI_Barrier(grid);
  sweep_once(grid, 1);
  sweep_once(grid, 0);
  MPI_Barrier(grid);
  MPI_Comm_free(&grid);
}

static void empty_message(void) {
  int x = 1;
  if (rank == 0) {
    nap(0.3);
    MPI_Send(&x, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void probe(void) {
  int x = 1;
  if (rank == 0) {
    nap(0.3);
    MPI_Send(&x, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Status status;
    MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    MPI_Recv(&x, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void matched_probe(void) {
  int x = 1;
  if (rank == 0) {
    nap(0.3);
    MPI_Send(&x, 1, MPI_INT, 1, 7, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Message message;
    MPI_Mprobe(0, 7, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(&x, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  }
}

static void polling(void) {
  int x = 1;
  if (rank == 0) {
    nap(0.3);
    MPI_Send(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Request request;
    int done = 0;
    MPI_Irecv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  }
}

static void late_receiver(void) {
  int x = 1;
  if (rank == 0) {
    MPI_Ssend(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  } else if (rank == 1) {
    nap(0.3);
    MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void persistent(void) {
  int x = 1;
  MPI_Request request;
  if (rank == 0) {
    MPI_Send_init(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
    nap(0.3);
  } else if (rank == 1) {
    MPI_Recv_init(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
  }
  if (rank < 2) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
  }
}

static void nonblocking(void) {
  MPI_Request request;
  if (rank == 1) nap(0.3);
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void intercommunicator(void) {
  const int group = rank / 2;
  MPI_Comm half, both;
  MPI_Comm_split(MPI_COMM_WORLD, group, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, group == 0 ? 2 : 0, 5, &both);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 3) nap(0.3);
  MPI_Allgather(&rank, 1, MPI_INT, (int[2]){0}, 1, MPI_INT, both);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

static void neighbours(void) {
  MPI_Comm ring;
  int out[2] = {rank, rank}, in[2];
  MPI_Cart_create(MPI_COMM_WORLD, 1, (int[]){size}, (int[]){1}, 0, &ring);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 2) nap(0.3);
  MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring);
  MPI_Comm_free(&ring);
}

static void split(void) {
  MPI_Comm half;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) nap(0.3);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  MPI_Comm_free(&half);
}

static void file(void) {
  static char block[1 << 16];
  MPI_File file;
  MPI_File_open(MPI_COMM_WORLD, "waits.dat", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                &file);
  MPI_File_set_view(file, rank * (MPI_Offset)sizeof block, MPI_BYTE, MPI_BYTE, "native",
                    MPI_INFO_NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) nap(0.3);
  MPI_File_write_all(file, block, sizeof block, MPI_BYTE, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
}

static MPI_Win window;
static int* memory;

static void make_window(void) {
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  MPI_Barrier(MPI_COMM_WORLD);
}

static MPI_Group group_of(int first, int count) {
  MPI_Group world, group;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_range_incl(world, 1, (int[1][3]){{first, first + count - 1, 1}}, &group);
  MPI_Group_free(&world);
  return group;
}

static void fence(void) {
  make_window();
  MPI_Win_fence(0, window);
  if (rank == 1) nap(0.3);
  MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
}

static void late_post(void) {
  make_window();
  MPI_Group other = group_of(1 - rank % 2, 1);
  if (rank == 0) {
    MPI_Win_start(other, 0, window);
    MPI_Put(&rank, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
    MPI_Win_complete(window);
  } else if (rank == 1) {
    nap(0.3);
    MPI_Win_post(other, 0, window);
    MPI_Win_wait(window);
  }
  MPI_Group_free(&other);
  MPI_Win_free(&window);
}

static void early_wait(void) {
  make_window();
  MPI_Group other = group_of(1 - rank % 2, 1);
  if (rank == 0) {
    MPI_Win_start(other, 0, window);
    nap(0.2);
    MPI_Put(&rank, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
    nap(0.3);
    MPI_Win_complete(window);
  } else if (rank == 1) {
    MPI_Win_post(other, 0, window);
    MPI_Win_wait(window);
  }
  MPI_Group_free(&other);
  MPI_Win_free(&window);
}

static void lock(void) {
  make_window();
  if (rank == 0) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, window);
    MPI_Put(&rank, 1, MPI_INT, 2, 0, 1, MPI_INT, window);
    MPI_Win_flush(2, window);  // whatever was put off until now is done
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    nap(0.3);
    MPI_Win_unlock(2, window);
  } else if (rank == 1) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 2, 0, window);
    MPI_Put(&rank, 1, MPI_INT, 2, 0, 1, MPI_INT, window);
    MPI_Win_unlock(2, window);
  }
  MPI_Win_free(&window);
}

/* Ten messages of 2 MB to a rank that has asked for each and sleeps. */
static void progress(void) {
  enum { kCount = 1 << 18 };
  double* data = calloc(kCount, sizeof *data);
  for (int i = 0; i < 10; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
      MPI_Send(data, kCount, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    } else if (rank == 1) {
      MPI_Request request;
      MPI_Irecv(data, kCount, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, &request);
      nap(0.03);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
  free(data);
}

/* What happens before MPI_Init does (main). */
static void start_skew(void) {}

#define CASE(name) {#name, name}
static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {CASE(late_sender),
             CASE(fifo),
             CASE(fifo_chain),
             CASE(wrong_order),
             CASE(probe),
             CASE(matched_probe),
             CASE(polling),
             CASE(late_receiver),
             CASE(persistent),
             CASE(nonblocking),
             CASE(intercommunicator),
             CASE(neighbours),
             CASE(split),
             CASE(file),
             CASE(fence),
             CASE(late_post),
             CASE(early_wait),
             CASE(lock),
             CASE(sweeps),
             CASE(empty_message),
             CASE(progress),
             CASE(start_skew)};

/* By what launchers tell a process before it starts MPI. */
static int rank_before_init(void) {
  const char* told = getenv("OMPI_COMM_WORLD_RANK");
  if (told == NULL) told = getenv("PMI_RANK");
  return told != NULL ? atoi(told) : 0;
}

static void read_input(void) {
  nap(0.3);
}

int main(int argc, char** argv) {
  if (argc == 2 && strcmp(argv[1], "start_skew") == 0 && rank_before_init() == 1) read_input();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Barrier(MPI_COMM_WORLD);
  for (size_t i = 0; argc == 2 && i < sizeof cases / sizeof *cases; ++i) {
    if (strcmp(cases[i].name, argv[1]) == 0) cases[i].run();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) printf("%s is over\n", argc == 2 ? argv[1] : "nothing");
  MPI_Finalize();
  return 0;
}
