/* SPDX-FileCopyrightText: The culprit authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * MPI_PROC_NULL wherever a rank is expected: all of it exchanges nothing. */
#include <mpi.h>
#include <stdio.h>

static int x = 1, y = 2, z = 3;

static void one_sided(void) {
  int* shared;
  MPI_Win win;
  MPI_Request request;
  MPI_Win_allocate(sizeof *shared, sizeof *shared, MPI_INFO_NULL, MPI_COMM_WORLD, &shared, &win);
  MPI_Win_fence(0, win);
  MPI_Put(&x, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
  MPI_Get(&x, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
  MPI_Accumulate(&x, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, win);
  MPI_Get_accumulate(&x, 1, MPI_INT, &y, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, win);
  MPI_Fetch_and_op(&x, &y, MPI_INT, MPI_PROC_NULL, 0, MPI_SUM, win);
  MPI_Compare_and_swap(&x, &y, &z, MPI_INT, MPI_PROC_NULL, 0, win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
#ifndef OPEN_MPI  // It takes no locks of nobody.
  MPI_Win_lock(MPI_LOCK_SHARED, MPI_PROC_NULL, 0, win);
  MPI_Get(&x, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
  MPI_Win_unlock(MPI_PROC_NULL, win);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0, win);
  MPI_Win_unlock(MPI_PROC_NULL, win);
#endif
  MPI_Win_lock_all(0, win);
  MPI_Rput(&x, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Rget(&x, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Raccumulate(&x, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, MPI_SUM, win, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
#ifndef OPEN_MPI  // It ends with a segmentation fault.
  MPI_Win_flush(MPI_PROC_NULL, win);
  MPI_Win_flush_local(MPI_PROC_NULL, win);
#endif
  MPI_Win_unlock_all(win);
  MPI_Win_free(&win);
}

static void messages(void) {
  MPI_Status status;
  MPI_Message message;
  MPI_Request request, both[2];
  int flag = 0;
  MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
  MPI_Ssend(&x, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
  MPI_Recv(&x, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
  MPI_Sendrecv(&x, 1, MPI_INT, MPI_PROC_NULL, 1, &y, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD,
               &status);
  MPI_Sendrecv_replace(&x, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
  MPI_Probe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
  MPI_Iprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &status);
  MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &message, &status);
  MPI_Mrecv(&x, 1, MPI_INT, &message, &status);
  MPI_Improbe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &flag, &message, &status);
  if (flag) {
    MPI_Imrecv(&x, 1, MPI_INT, &message, &request);
    MPI_Wait(&request, &status);
  }
  MPI_Isend(&x, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &both[0]);
  MPI_Irecv(&y, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &both[1]);
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  MPI_Send_init(&x, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &both[0]);
  MPI_Recv_init(&y, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &both[1]);
  for (int i = 0; i < 2; ++i) {
    MPI_Startall(2, both);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  }
  MPI_Request_free(&both[0]);
  MPI_Request_free(&both[1]);
}

/* A line of processes: its ends have nobody on one side. */
static void neighbours(void) {
  int size = 0, open = 0, from[2] = {0, 0}, to = 1, before = 0, after = 0;
  MPI_Comm line;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &open, 0, &line);
  MPI_Cart_shift(line, 0, 1, &before, &after);
  MPI_Sendrecv(&to, 1, MPI_INT, after, 2, &x, 1, MPI_INT, before, 2, line, MPI_STATUS_IGNORE);
  MPI_Neighbor_allgather(&to, 1, MPI_INT, from, 1, MPI_INT, line);
  MPI_Comm_free(&line);
}

/* Of the group that has the root, the others pass nobody. */
static void between_groups(void) {
  int rank = 0;
  MPI_Comm half, between;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_split(MPI_COMM_WORLD, rank < 2, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank < 2 ? 2 : 0, 3, &between);
  MPI_Bcast(&x, 1, MPI_INT, rank == 0 ? MPI_ROOT : rank == 1 ? MPI_PROC_NULL : 0, between);
  MPI_Reduce(&y, &z, 1, MPI_INT, MPI_SUM,
             rank == 0   ? MPI_ROOT
             : rank == 1 ? MPI_PROC_NULL
                         : 0,
             between);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  one_sided();
  messages();
  neighbours();
  between_groups();
  MPI_Finalize();
  return 0;
}
