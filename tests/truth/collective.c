// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// Collective operations of every kind, and one-sided communication. Rank 0 is late where the root
// alone can make others wait (Bcast, Scatter), else rank 1.
#include "truth.h"

#define WORLD MPI_COMM_WORLD
#define MAX_RANKS 16

static int in[MAX_RANKS * 4], out[MAX_RANKS * 4];
static const int ones[MAX_RANKS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
static const int places[MAX_RANKS] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

TAKES_TIME(late)
TAKES_TIME(hold_window)

// A case: rank `who` is late for `call`, again and again.
#define COLLECTIVE(name, who, call)      \
  static void name(void) {               \
    ROUNDS {                             \
      if (rank == (who)) late(truth_ms); \
      TIMED(call);                       \
    }                                    \
  }

COLLECTIVE(barrier, 1, MPI_Barrier(WORLD))
COLLECTIVE(bcast, 0, MPI_Bcast(in, 1, MPI_INT, 0, WORLD))
COLLECTIVE(scatter, 0, MPI_Scatter(out, 1, MPI_INT, in, 1, MPI_INT, 0, WORLD))
COLLECTIVE(scatterv, 0, MPI_Scatterv(out, ones, places, MPI_INT, in, 1, MPI_INT, 0, WORLD))
COLLECTIVE(reduce, 1, MPI_Reduce(out, in, 1, MPI_INT, MPI_SUM, 0, WORLD))
COLLECTIVE(gather, 1, MPI_Gather(out, 1, MPI_INT, in, 1, MPI_INT, 0, WORLD))
COLLECTIVE(gatherv, 1, MPI_Gatherv(out, 1, MPI_INT, in, ones, places, MPI_INT, 0, WORLD))
COLLECTIVE(scan, 1, MPI_Scan(out, in, 1, MPI_INT, MPI_SUM, WORLD))
COLLECTIVE(exscan, 1, MPI_Exscan(out, in, 1, MPI_INT, MPI_SUM, WORLD))
COLLECTIVE(allreduce, 1, MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, WORLD))
COLLECTIVE(allgather, 1, MPI_Allgather(out, 1, MPI_INT, in, 1, MPI_INT, WORLD))
COLLECTIVE(allgatherv, 1, MPI_Allgatherv(out, 1, MPI_INT, in, ones, places, MPI_INT, WORLD))
COLLECTIVE(alltoall, 1, MPI_Alltoall(out, 1, MPI_INT, in, 1, MPI_INT, WORLD))
COLLECTIVE(alltoallv, 1,
           MPI_Alltoallv(out, ones, places, MPI_INT, in, ones, places, MPI_INT, WORLD))
COLLECTIVE(reduce_scatter, 1, MPI_Reduce_scatter(out, in, ones, MPI_INT, MPI_SUM, WORLD))
COLLECTIVE(reduce_scatter_block, 1, MPI_Reduce_scatter_block(out, in, 1, MPI_INT, MPI_SUM, WORLD))

// The same, begun and waited for.
#define NONBLOCKING(name, who, call)                \
  static void name(void) {                          \
    ROUNDS {                                        \
      MPI_Request request;                          \
      if (rank == (who)) late(truth_ms);            \
      call;                                         \
      TIMED(MPI_Wait(&request, MPI_STATUS_IGNORE)); \
    }                                               \
  }

NONBLOCKING(ibarrier, 1, MPI_Ibarrier(WORLD, &request))
NONBLOCKING(ibcast, 0, MPI_Ibcast(in, 1, MPI_INT, 0, WORLD, &request))
NONBLOCKING(iallreduce, 1, MPI_Iallreduce(out, in, 1, MPI_INT, MPI_SUM, WORLD, &request))
NONBLOCKING(ialltoall, 1, MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, WORLD, &request))

static void ibarrier_test(void) {
  ROUNDS {
    MPI_Request request;
    int done = 0;
    if (rank == 1) late(truth_ms);
    MPI_Ibarrier(WORLD, &request);
    TIMED(while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE));
  }
}

// Ends a level as Graph500 does: asks for the barrier and for messages in turn. One comes in the
// first level, before the barrier.
static void ibarrier_in_turn(void) {
  enum { kReceives = 4 };
  int box[kReceives], ends = 0;
  MPI_Request receives[kReceives];
  for (int i = 0; i < kReceives; ++i) {
    MPI_Irecv(&box[i], 1, MPI_INT, MPI_ANY_SOURCE, i, WORLD, &receives[i]);
  }
  ROUNDS {
    MPI_Request request;
    int done = 0, index, found;
    if (rank == 1) late(truth_ms);
    if (rank == 1 && ends == 0) {
      for (int to = 0; to < size; ++to) MPI_Send(&to, 1, MPI_INT, to, 0, WORLD);
    }
    MPI_Ibarrier(WORLD, &request);
    TIMED(while (!done) {
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      MPI_Testany(kReceives, receives, &index, &found, MPI_STATUS_IGNORE);
      ends += found && index == 0;
    });
  }
  for (int i = 1; i < kReceives; ++i) {
    MPI_Cancel(&receives[i]);
    MPI_Wait(&receives[i], MPI_STATUS_IGNORE);
  }
  if (ends == 0) MPI_Wait(&receives[0], MPI_STATUS_IGNORE);
}

// --- communicators ---

// Two halves that have nothing to do with each other: in one of them rank 1 is late, in the other
// all are.
static void subcommunicators(void) {
  MPI_Comm half;
  MPI_Comm_split(WORLD, rank < size / 2 ? 0 : 1, rank, &half);
  ROUNDS {
    if (rank == 1 || rank >= size / 2) late(truth_ms);
    TIMED(MPI_Allreduce(out, in, 1, MPI_INT, MPI_SUM, half));
  }
  MPI_Comm_free(&half);
}

static void make_both(MPI_Comm* half, MPI_Comm* both) {
  const int group = rank < size / 2 ? 0 : 1;
  MPI_Comm_split(WORLD, group, rank, half);
  MPI_Intercomm_create(*half, 0, WORLD, group == 0 ? size / 2 : 0, 5, both);
}

static void inter_barrier(void) {
  MPI_Comm half, both;
  make_both(&half, &both);
  ROUNDS {
    if (rank == 1) late(truth_ms);
    TIMED(MPI_Barrier(both));
  }
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

static void inter_bcast(void) {
  MPI_Comm half, both;
  make_both(&half, &both);
  const int root = rank == 0 ? MPI_ROOT : rank < size / 2 ? MPI_PROC_NULL : 0;
  ROUNDS {
    if (rank == 0) late(truth_ms);
    TIMED(MPI_Bcast(in, 1, MPI_INT, root, both));
  }
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

static void comm_dup(void) {
  ROUNDS {
    MPI_Comm copy;
    if (rank == 1) late(truth_ms);
    TIMED(MPI_Comm_dup(WORLD, &copy));
    MPI_Comm_free(&copy);
  }
}

static void neighbour_graph(void) {
  MPI_Comm line;
  int neighbours[2] = {0, 0}, count = 0;
  if (rank > 0) neighbours[count++] = rank - 1;
  if (rank < size - 1) neighbours[count++] = rank + 1;
  MPI_Dist_graph_create_adjacent(WORLD, count, neighbours, ones, count, neighbours, ones,
                                 MPI_INFO_NULL, 0, &line);
  ROUNDS {
    if (rank == 1) late(truth_ms);
    TIMED(MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, line));
  }
  MPI_Comm_free(&line);
}

// --- one-sided ---

static MPI_Win make_window(int** memory) {
  MPI_Win window;
  MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, WORLD, memory, &window);
  TIMED(MPI_Barrier(WORLD));
  return window;
}

static void fence(void) {
  int* memory;
  MPI_Win window = make_window(&memory);
  MPI_Win_fence(0, window);
  ROUNDS {
    MPI_Put(out, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
    if (rank == 1) late(truth_ms);
    TIMED(MPI_Win_fence(0, window));
  }
  MPI_Win_free(&window);
}

// Rank 0 puts to rank 1; `late_target`: rank 1 opens late, else rank 0 ends late.
static void general_active_target(int late_target) {
  int* memory;
  MPI_Win window = make_window(&memory);
  MPI_Group world, other;
  MPI_Comm_group(WORLD, &world);
  MPI_Group_incl(world, 1, (int[]){rank == 0 ? 1 : 0}, &other);
  ROUNDS {
    if (rank == 0) {
      TIMED(MPI_Win_start(other, 0, window));
      TIMED(MPI_Put(out, 1, MPI_INT, 1, 0, 1, MPI_INT, window));
      if (!late_target) late(truth_ms);
      TIMED(MPI_Win_complete(window));
    } else if (rank == 1) {
      if (late_target) late(truth_ms);
      TIMED(MPI_Win_post(other, 0, window));
      TIMED(MPI_Win_wait(window));
    }
  }
  MPI_Group_free(&other);
  MPI_Group_free(&world);
  TIMED(MPI_Win_free(&window));
}

static void late_post(void) {
  general_active_target(1);
}
static void late_complete(void) {
  general_active_target(0);
}

// Rank 1 holds a window's lock while rank 0 asks for it.
static void win_lock(void) {
  int* memory;
  MPI_Win window = make_window(&memory);
  ROUNDS {
    if (rank == 1) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
      MPI_Put(out, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
      MPI_Win_flush(0, window);
      MPI_Send(out, 1, MPI_INT, 0, 0, WORLD);
      hold_window(truth_ms);
      MPI_Win_unlock(0, window);
    } else if (rank == 0) {
      TIMED(MPI_Recv(in, 1, MPI_INT, 1, 0, WORLD, MPI_STATUS_IGNORE));
      TIMED(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window));
      MPI_Put(out, 1, MPI_INT, 0, 0, 1, MPI_INT, window);
      TIMED(MPI_Win_unlock(0, window));
    }
    TIMED(MPI_Barrier(WORLD));
  }
  MPI_Win_free(&window);
}

static const struct truth_case cases[] = {
    {"barrier", barrier},
    {"bcast", bcast},
    {"scatter", scatter},
    {"scatterv", scatterv},
    {"reduce", reduce},
    {"gather", gather},
    {"gatherv", gatherv},
    {"scan", scan},
    {"exscan", exscan},
    {"allreduce", allreduce},
    {"allgather", allgather},
    {"allgatherv", allgatherv},
    {"alltoall", alltoall},
    {"alltoallv", alltoallv},
    {"reduce_scatter", reduce_scatter},
    {"reduce_scatter_block", reduce_scatter_block},
    {"ibarrier", ibarrier},
    {"ibarrier_test", ibarrier_test},
    {"ibarrier_in_turn", ibarrier_in_turn},
    {"ibcast", ibcast},
    {"iallreduce", iallreduce},
    {"ialltoall", ialltoall},
    {"subcommunicators", subcommunicators},
    {"inter_barrier", inter_barrier},
    {"inter_bcast", inter_bcast},
    {"comm_dup", comm_dup},
    {"neighbour_graph", neighbour_graph},
    {"fence", fence},
    {"late_post", late_post},
    {"late_complete", late_complete},
    {"win_lock", win_lock},
};

TRUTH_MPI_MAIN(cases)
