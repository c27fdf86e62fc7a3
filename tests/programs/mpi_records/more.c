/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   What core.c leaves out: the rarer families, from C alone. As there, nothing is left to chance.
   Calls that only MPI-4 has come last. Wants 3 processes; argument: a folder for a file. */
#include <mpi.h>
#include <stdio.h>

static int rank, size, next, prev;

static void requests(void) {
  int in[8], out[8] = {0}, flag = 0;
  MPI_Request request, other;
  MPI_Message message;
  MPI_Status status;
  MPI_Irecv(in, 8, MPI_INT, prev, 99, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);

  MPI_Irecv(in, 8, MPI_INT, prev, 51, MPI_COMM_WORLD, &request);
  MPI_Send(out, 1, MPI_INT, next, 51, MPI_COMM_WORLD);
  do MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
  while (!flag);
  MPI_Request_get_status(request, &flag, &status);
  MPI_Wait(&request, &status);

  MPI_Isend(out, 2, MPI_INT, next, 52, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  do MPI_Improbe(prev, 52, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
  while (!flag);
  MPI_Imrecv(in, 8, MPI_INT, &message, &request);
  MPI_Wait(&request, &status);

  MPI_Isend(out, 3, MPI_INT, next, 53, MPI_COMM_WORLD, &request);
  do MPI_Iprobe(prev, 53, MPI_COMM_WORLD, &flag, &status);
  while (!flag);
  MPI_Recv(in, 8, MPI_INT, prev, 53, MPI_COMM_WORLD, &status);
  MPI_Wait(&request, &status);

  MPI_Message none;
  MPI_Mprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, &none, &status);
  MPI_Mrecv(in, 8, MPI_INT, &none, &status);

  /* Several requests at once that may well share one handle, completed the other way round. */
  MPI_Irecv(in, 1, MPI_INT, prev, 54, MPI_COMM_WORLD, &request);
  MPI_Request many[4];
  for (int i = 0; i < 3; ++i) MPI_Isend(out, i, MPI_INT, rank, 60 + i, MPI_COMM_WORLD, &many[i]);
  for (int i = 2; i >= 0; --i) MPI_Wait(&many[i], MPI_STATUS_IGNORE);
  for (int i = 0; i < 3; ++i) MPI_Recv(in, 8, MPI_INT, rank, 60 + i, MPI_COMM_WORLD, &status);
  MPI_Isend(out, 1, MPI_INT, next, 54, MPI_COMM_WORLD, &other);
  MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
  MPI_Wait(&request, &status);
  MPI_Wait(&other, &status);
}

static void types(void) {
  double in[16], out[16] = {0};
  MPI_Datatype pair;
  MPI_Request request;
  MPI_Status status;
  MPI_Type_vector(2, 1, 3, MPI_DOUBLE, &pair);
  MPI_Type_commit(&pair);
  MPI_Irecv(in, 3, pair, prev, 71, MPI_COMM_WORLD, &request);
  MPI_Send(out, 2, pair, next, 71, MPI_COMM_WORLD);
  MPI_Type_free(&pair); /* before the receive is complete */
  MPI_Wait(&request, &status);
  MPI_Sendrecv_replace(out, 2, MPI_DOUBLE, next, 72, prev, 72, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void collectives(void) {
  int in[32], out[32] = {0}, counts[3] = {1, 2, 3}, places[3] = {0, 1, 3};
  int ones[3] = {1, 1, 1}, steps[3] = {0, 4, 8};
  MPI_Datatype kinds[3] = {MPI_INT, MPI_INT, MPI_INT};
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 2, MPI_INT, MPI_COMM_WORLD);
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, counts, places, MPI_INT, MPI_COMM_WORLD);
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_INT, MPI_COMM_WORLD);
  MPI_Gather(rank == 0 ? MPI_IN_PLACE : out, 1, MPI_INT, in, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Gatherv(rank == 0 ? MPI_IN_PLACE : out, rank + 1, MPI_INT, in, rank == 0 ? counts : NULL,
              rank == 0 ? places : NULL, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Scatterv(rank == 2 ? out : NULL, rank == 2 ? counts : NULL, rank == 2 ? places : NULL,
               rank == 2 ? MPI_INT : MPI_DATATYPE_NULL, rank == 2 ? MPI_IN_PLACE : in, rank + 1,
               MPI_INT, 2, MPI_COMM_WORLD);
  MPI_Alltoallw(out, ones, steps, kinds, in, ones, steps, kinds, MPI_COMM_WORLD);
  MPI_Scan(MPI_IN_PLACE, in, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Reduce_scatter(MPI_IN_PLACE, in, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void topologies(void) {
  int in[8], out[8] = {0}, index[3] = {2, 3, 4}, edges[4] = {1, 2, 0, 0};
  MPI_Comm graph, ring;
  MPI_Request request;
  MPI_Graph_create(MPI_COMM_WORLD, 3, index, edges, 0, &graph);
  MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, graph);
  MPI_Comm_free(&graph);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &prev, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &ring);
  MPI_Ineighbor_allgather(out, 2, MPI_INT, in, 2, MPI_INT, ring, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_free(&ring);
}

static void communicators(void) {
  int in[4], out[4] = {0};
  MPI_Comm copy, some, side, between, merged;
  MPI_Group world, group;
  MPI_Request request;
  const int members[2] = {2, 0};
  MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(copy);
  MPI_Comm_group(copy, &world);
  MPI_Group_incl(world, 2, members, &group);
  MPI_Comm_create(copy, group, &some);
  if (rank != 1) MPI_Comm_free(&some);
  if (rank != 1) {
    MPI_Comm_create_group(copy, group, 5, &some);
    MPI_Barrier(some);
    MPI_Comm_free(&some);
  }
  MPI_Comm_split(copy, rank == 0 ? 0 : 1, rank, &side);
  MPI_Intercomm_create(side, 0, copy, rank == 0 ? 1 : 0, 6, &between);
  if (rank == 0) MPI_Send(out, 1, MPI_INT, 1, 81, between);
  if (rank == 2) MPI_Recv(in, 1, MPI_INT, 0, 81, between, MPI_STATUS_IGNORE);
  MPI_Bcast(out, 4, MPI_INT, rank == 0 ? MPI_ROOT : 0, between);
  MPI_Bcast(out, 4, MPI_INT, rank == 0 ? 1 : rank == 2 ? MPI_ROOT : MPI_PROC_NULL, between);
  MPI_Allgather(out, 1, MPI_INT, in, 1, MPI_INT, between);
  MPI_Intercomm_merge(between, rank == 0, &merged);
  MPI_Barrier(merged);
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&between);
  MPI_Comm_free(&side);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  MPI_Comm_free(&copy);
}

static void objects(const char* folder) {
  int memory[4] = {0}, *base;
  char name[4096];
  MPI_Win window;
  MPI_File file;
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  MPI_Put(memory, 1, MPI_INT, next, 2, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  MPI_Win_free(&window);
  snprintf(name, sizeof name, "%s/shared", folder);
  MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_write_at_all(file, rank * 4, memory, 1, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
}

#if MPI_VERSION >= 4
static void mpi4(void) {
  int in[8], out[8] = {0};
  MPI_Request request;
  MPI_Status status;
  MPI_Isendrecv(out, 1, MPI_INT, next, 91, in, 8, MPI_INT, prev, 91, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  MPI_Allreduce_init(out, in, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  for (int i = 0; i < 2; ++i) {
    MPI_Start(&request);
    MPI_Wait(&request, &status);
  }
  MPI_Request_free(&request);
  MPI_Send_c(out, (MPI_Count)2, MPI_INT, next, 92, MPI_COMM_WORLD);
  MPI_Recv_c(in, (MPI_Count)8, MPI_INT, prev, 92, MPI_COMM_WORLD, &status);
  MPI_Count counts[3] = {1, 1, 1};
  MPI_Aint steps[3] = {0, 1, 2};
  MPI_Alltoallv_c(out, counts, steps, MPI_INT, in, counts, steps, MPI_INT, MPI_COMM_WORLD);
}
#endif

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  next = (rank + 1) % size;
  prev = (rank + size - 1) % size;
  requests();
  types();
  collectives();
  topologies();
  communicators();
  objects(argc > 1 ? argv[1] : ".");
#if MPI_VERSION >= 4
  mpi4();
#endif
  MPI_Finalize();
  return 0;
}
