/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   Collectives in which not everybody exchanges data with everybody: zero counts and neighbours.
   What only MPI-4 has comes last, partitioned communication too. Wants 4 processes. */
#include <mpi.h>
#include <stddef.h>

static int rank;
static int places[4] = {0, 2, 4, 6};
static int in[16], out[16];

/* A ring: each sends one number to the next alone. */
static void ring(void) {
  int sent[4] = {0}, received[4] = {0};
  int bytes[4] = {0, 8, 16, 24};
  MPI_Datatype ints[4] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT}, empty[4];
  MPI_Datatype nothing;
  MPI_Request request;
  sent[(rank + 1) % 4] = received[(rank + 3) % 4] = 1;
  out[places[(rank + 1) % 4]] = rank;
  MPI_Alltoallv(out, sent, places, MPI_INT, in, received, places, MPI_INT, MPI_COMM_WORLD);
  if (in[places[(rank + 3) % 4]] != (rank + 3) % 4) MPI_Abort(MPI_COMM_WORLD, 4);
  MPI_Ialltoallv(out, sent, places, MPI_INT, in, received, places, MPI_INT, MPI_COMM_WORLD,
                 &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Alltoallw(out, sent, bytes, ints, in, received, bytes, ints, MPI_COMM_WORLD);
  /* An empty type is as good as no element. */
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  for (int i = 0; i < 4; ++i) {
    sent[i] = received[i] = 1;
    empty[i] = rank / 2 == i / 2 ? MPI_INT : nothing;
  }
  MPI_Alltoallw(out, sent, bytes, empty, in, received, bytes, empty, MPI_COMM_WORLD);
  MPI_Type_free(&nothing);
  MPI_Alltoallv(out, sent, places, MPI_INT, in, received, places, MPI_INT, MPI_COMM_WORLD);
}

/* Odd processes have nothing. */
static void rooted(void) {
  int counts[4] = {2, 0, 2, 0}, mine = rank % 2 ? 0 : 2;
  MPI_Request request;
  MPI_Gatherv(out, mine, MPI_INT, in, rank == 0 ? counts : NULL, rank == 0 ? places : NULL, MPI_INT,
              0, MPI_COMM_WORLD);
  MPI_Scatterv(out, rank == 1 ? counts : NULL, rank == 1 ? places : NULL, MPI_INT, in, mine,
               MPI_INT, 1, MPI_COMM_WORLD);
  MPI_Allgatherv(out, mine, MPI_INT, in, counts, places, MPI_INT, MPI_COMM_WORLD);
  MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Igatherv(out, mine, MPI_INT, in, counts, places, MPI_INT, 2, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* A grid of 2 x 2 with borders: each has two neighbours, and nobody beyond the border. */
static void grid(void) {
  int dims[2] = {2, 2}, periods[2] = {0, 0};
  int one[4] = {1, 1, 1, 1}, first[4] = {1, 1, 0, 0};
  int steps[4] = {0, 1, 2, 3};
  MPI_Comm cart, torus;
  MPI_Request request;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &cart);
  MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, cart);
  MPI_Neighbor_allgather(out, 2, MPI_INT, in, 2, MPI_INT, cart);
  MPI_Neighbor_alltoallv(out, one, steps, MPI_INT, in, one, steps, MPI_INT, cart);
  /* Along the first dimension alone. */
  MPI_Ineighbor_alltoallv(out, first, steps, MPI_INT, in, first, steps, MPI_INT, cart, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&cart);
  /* Both ways round lead to the same neighbour. */
  periods[0] = periods[1] = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &torus);
  MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, torus);
  MPI_Comm_free(&torus);
}

static void graphs(void) {
  /* A star: 0 is everybody's neighbour. */
  int index[4] = {3, 4, 5, 6}, edges[6] = {1, 2, 3, 0, 0, 0};
  int one[2] = {1, 1}, steps[2] = {0, 1};
  /* Directed: everybody sends to 0 twice and gets from nobody, but for 0, which sends nothing. */
  int sources[6] = {1, 1, 2, 2, 3, 3}, targets[2] = {0, 0}, in_weights[6] = {1, 2, 3, 4, 5, 6};
  int out_weights[2] = {1, 2}, received[6] = {1, 1, 1, 1, 0, 0}, from[6] = {0, 1, 2, 3, 4, 5};
  MPI_Comm star, funnel;
  MPI_Graph_create(MPI_COMM_WORLD, 4, index, edges, 0, &star);
  MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, star);
  MPI_Comm_free(&star);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank ? 0 : 6, sources,
                                 rank ? MPI_WEIGHTS_EMPTY : in_weights, rank ? 2 : 0, targets,
                                 rank ? out_weights : MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &funnel);
  MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, funnel);
  if (rank == 3) one[0] = one[1] = 0;
  MPI_Neighbor_alltoallv(out, one, steps, MPI_INT, in, received, from, MPI_INT, funnel);
  MPI_Comm_free(&funnel);
}

#if MPI_VERSION >= 4
static void persistent(void) {
  int sent[4] = {0}, received[4] = {0};
  MPI_Request request;
  sent[(rank + 1) % 4] = received[(rank + 3) % 4] = 1;
  MPI_Alltoallv_init(out, sent, places, MPI_INT, in, received, places, MPI_INT, MPI_COMM_WORLD,
                     MPI_INFO_NULL, &request);
  for (int i = 0; i < 2; ++i) {
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
}

/* Two pairs with one tag: each meets the one made in the same place of the order. */
static void partitioned(void) {
  int flag = 0, last[2] = {2, 3};
  MPI_Request request[2];
  if (rank == 0) {
    for (int i = 0; i < 2; ++i) {
      MPI_Psend_init(out, 4, 1 + i, MPI_INT, 1, 7, MPI_COMM_WORLD, MPI_INFO_NULL, &request[i]);
    }
    MPI_Startall(2, request);
    MPI_Pready(0, request[0]);
    MPI_Pready_range(0, 3, request[1]);
    MPI_Pready(1, request[0]);
    MPI_Pready_list(2, last, request[0]);
  } else if (rank == 1) {
    for (int i = 0; i < 2; ++i) {
      MPI_Precv_init(in + 8 * i, 4, 1 + i, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_INFO_NULL,
                     &request[i]);
    }
    MPI_Start(&request[1]);
    MPI_Start(&request[0]);
    do MPI_Parrived(request[1], 3, &flag);
    while (!flag);
  }
  if (rank < 2) MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
  for (int i = 0; rank < 2 && i < 2; ++i) MPI_Request_free(&request[i]);
}
#endif

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  ring();
  rooted();
  grid();
  graphs();
#if MPI_VERSION >= 4
  persistent();
  partitioned();
#endif
  MPI_Finalize();
  return 0;
}
