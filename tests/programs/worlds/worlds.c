/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   Processes that come to each other in other ways than by MPI_COMM_WORLD. In each, one process
   computes for 0.3 s before it sends to one that waits for it. The argument says which way:

   - spawn: 2 ranks start 2 more; the first of those is late.
   - connect: the same, but the message goes over a second inter-communicator, made by a port, and
     its merge; none is disconnected, since Open MPI 4.1 hangs in that.
   - sessions: 2 ranks without MPI_Init; the second is late.
   - both: sessions and MPI_COMM_WORLD in one program.
   - edges: calls that MPI allows before MPI_Init and after MPI_Finalize; the second is late. */
#define _POSIX_C_SOURCE 199309L
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static volatile double sink;

__attribute__((noinline)) static void compute_flux(void) {
  struct timespec begin, t;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    for (int i = 0; i < 1000; ++i) sink += i;
    clock_gettime(CLOCK_MONOTONIC, &t);
  } while ((double)(t.tv_sec - begin.tv_sec) + 1e-9 * (double)(t.tv_nsec - begin.tv_nsec) < 0.3);
}

static void send_late(int to, MPI_Comm comm) {
  int value = 42;
  compute_flux();
  MPI_Send(&value, 1, MPI_INT, to, 1, comm);
}

static void receive(int from, MPI_Comm comm) {
  int value = 0;
  MPI_Recv(&value, 1, MPI_INT, from, 1, comm, MPI_STATUS_IGNORE);
  if (value != 42) MPI_Abort(MPI_COMM_WORLD, 3);
}

/* Replaces the inter-communicator by the merge of one that was made with a port. */
static MPI_Comm connect(MPI_Comm* inter, int is_parent, int rank) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm second, merged;
  if (is_parent) {
    if (rank == 0) {
      MPI_Open_port(MPI_INFO_NULL, port);
      MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 2, *inter);
    }
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &second);
  } else {
    if (rank == 0) {
      MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 2, *inter, MPI_STATUS_IGNORE);
    }
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &second);
  }
  MPI_Comm_free(inter);
  MPI_Intercomm_merge(second, !is_parent, &merged);
  MPI_Comm_free(&second);
  return merged;
}

static int spawn(char** argv, int by_port) {
  int rank, codes[2];
  MPI_Comm inter;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_get_parent(&inter);
  const int is_parent = inter == MPI_COMM_NULL;
  if (is_parent) {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (MPI_Comm_spawn(argv[0], argv + 1, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes)) {
      puts("this MPI cannot spawn");
      MPI_Finalize();
      return 77;
    }
  }
  if (by_port) inter = connect(&inter, is_parent, rank);
  MPI_Barrier(inter);
  /* In the merge the children follow the parents. */
  if (is_parent && rank == 0) receive(by_port ? 2 : 0, inter);
  if (!is_parent && rank == 0) send_late(0, inter);
  if (by_port)
    MPI_Comm_free(&inter);
  else
    MPI_Comm_disconnect(&inter);
  MPI_Finalize();
  return 0;
}

#if MPI_VERSION >= 4
static MPI_Comm open_session(MPI_Session* session, const char* tag) {
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, session);
  MPI_Group_from_session_pset(*session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Group_free(&group);
  return comm;
}

static int sessions(int with_world) {
  int rank;
  MPI_Session first, second;
  if (with_world) MPI_Init(NULL, NULL);
  MPI_Comm one = open_session(&first, "one"), other = open_session(&second, "other");
  MPI_Comm_free(&one);
  MPI_Session_finalize(&first);
  MPI_Comm half;
  MPI_Comm_rank(other, &rank);
  MPI_Comm_dup(other, &half);
  if (rank == 0) receive(1, half);
  if (rank == 1) send_late(0, half);
  MPI_Comm_free(&half);
  MPI_Comm_free(&other);
  MPI_Session_finalize(&second);
  if (with_world) MPI_Finalize();
  return 0;
}
#else
static int sessions(int with_world) {
  (void)with_world;
  puts("this MPI has no sessions");
  return 77;
}
#endif

static int edges(void) {
  int flag, version, subversion, length, rank;
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Initialized(&flag);
  if (flag) return 4;
  MPI_Get_version(&version, &subversion);
  MPI_Get_library_version(text, &length);
  MPI_Finalized(&flag);
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) receive(1, MPI_COMM_WORLD);
  if (rank == 1) send_late(0, MPI_COMM_WORLD);
  MPI_Finalize();
  MPI_Finalized(&flag);
  if (!flag) return 5;
  MPI_Initialized(&flag);
  MPI_Get_version(&version, &subversion);
  return flag ? 0 : 6;
}

int main(int argc, char** argv) {
  const char* const way = argc > 1 ? argv[1] : "";
  if (strcmp(way, "spawn") == 0) return spawn(argv, 0);
  if (strcmp(way, "connect") == 0) return spawn(argv, 1);
  if (strcmp(way, "sessions") == 0) return sessions(0);
  if (strcmp(way, "both") == 0) return sessions(1);
  if (strcmp(way, "edges") == 0) return edges();
  return 2;
}
