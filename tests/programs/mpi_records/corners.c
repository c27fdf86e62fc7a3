/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   What MPI allows and few programs do: calls before MPI_Init and after MPI_Finalize, lists without
   requests, requests that are freed at odd times and live longer than what they are about,
   callbacks in which MPI is called. Nothing is left to chance. Wants 1 process; ends with the
   number of the first answer that was wrong. */
#include <mpi.h>
#include <stdlib.h>

enum { kMany = 40 }; /* more than any array that a wrapper may have on its stack */

static MPI_Comm world;

static void expect(int right, int number) {
  if (!right) exit(number);
}

static void no_requests(void) {
  MPI_Request none[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status status;
  int index = 7, count = 7, flag = 0, indices[3];
  MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE);
  MPI_Waitany(0, NULL, &index, MPI_STATUS_IGNORE);
  expect(index == MPI_UNDEFINED, 11);
  MPI_Waitsome(0, NULL, &count, NULL, MPI_STATUSES_IGNORE);
  expect(count == MPI_UNDEFINED, 12);
  MPI_Testany(0, NULL, &index, &flag, MPI_STATUS_IGNORE);
  expect(flag && index == MPI_UNDEFINED, 13);
  MPI_Wait(&none[0], &status);
  expect(status.MPI_SOURCE == MPI_ANY_SOURCE, 14);
  MPI_Waitall(3, none, MPI_STATUSES_IGNORE);
  index = count = 7;
  MPI_Waitany(3, none, &index, &status);
  expect(index == MPI_UNDEFINED, 15);
  MPI_Waitsome(3, none, &count, indices, MPI_STATUSES_IGNORE);
  expect(count == MPI_UNDEFINED, 16);
  flag = 0;
  MPI_Request_get_status(none[0], &flag, &status);
  expect(flag, 17);
}

/* Of a list with gaps, some or one at a time. */
static void many(void) {
  int in[kMany], out[kMany], indices[kMany], index, count;
  MPI_Request requests[kMany];
  for (int i = 0; i < kMany; ++i) {
    out[i] = i;
    requests[i] = MPI_REQUEST_NULL;
    if (i % 10 == 3) MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, i, world, &requests[i]);
  }
  MPI_Send(&out[33], 1, MPI_INT, 0, 33, world);
  MPI_Waitany(kMany, requests, &index, MPI_STATUS_IGNORE);
  expect(index == 33, 21);
  MPI_Send(&out[13], 1, MPI_INT, 0, 13, world);
  MPI_Waitsome(kMany, requests, &count, indices, MPI_STATUSES_IGNORE);
  expect(count == 1 && indices[0] == 13, 22);
  MPI_Send(&out[3], 1, MPI_INT, 0, 3, world);
  MPI_Send(&out[23], 1, MPI_INT, 0, 23, world);
  MPI_Waitall(kMany, requests, MPI_STATUSES_IGNORE);
  for (int i = 3; i < kMany; i += 10) expect(in[i] == i, 23);
}

static void persistent(void) {
  double in[8], out[8] = {0};
  MPI_Request send, receive, nobody, both[2];
  MPI_Datatype pair;
  MPI_Status status;
  int flag = 0, index = 7;
  MPI_Type_vector(2, 1, 3, MPI_DOUBLE, &pair);
  MPI_Type_commit(&pair);
  MPI_Send_init(out, 1, pair, 0, 31, world, &send);
  MPI_Recv_init(in, 8, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &receive);
  MPI_Type_free(&pair); /* before it is ever sent */
  both[0] = receive;
  both[1] = send;
  MPI_Waitany(2, both, &index, MPI_STATUS_IGNORE); /* none is active */
  expect(index == MPI_UNDEFINED, 31);
  MPI_Startall(2, both);
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  MPI_Request_get_status(both[0], &flag, &status);
  expect(flag, 32);
  MPI_Start(&both[0]);
  MPI_Cancel(&both[0]);
  MPI_Wait(&both[0], &status);
  MPI_Start(&both[0]); /* and as before */
  MPI_Start(&both[1]);
  MPI_Request_free(&both[1]); /* while it is active */
  MPI_Wait(&both[0], &status);
  expect(status.MPI_TAG == 31, 33);
  MPI_Request_free(&both[0]);
  MPI_Send_init(out, 1, MPI_DOUBLE, 0, 32, world, &send); /* never started */
  MPI_Request_free(&send);
  MPI_Recv_init(in, 1, MPI_DOUBLE, MPI_PROC_NULL, 33, world, &nobody);
  MPI_Start(&nobody);
  MPI_Wait(&nobody, &status);
  MPI_Request_free(&nobody);
}

/* What operations are about is gone before they are complete. */
static void pending(void) {
  int in[4] = {0}, out[4] = {1, 2, 3, 4}, all[4] = {0};
  MPI_Comm copy;
  MPI_Datatype type;
  MPI_Request requests[4];
  MPI_Comm_dup(world, &copy);
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Irecv(in, 2, type, MPI_ANY_SOURCE, 51, copy, &requests[0]);
  MPI_Isend(out, 2, type, 0, 51, copy, &requests[1]);
  MPI_Iallgather(out, 2, type, all, 2, type, copy, &requests[2]);
  MPI_Ibarrier(copy, &requests[3]);
  MPI_Type_free(&type);
  MPI_Comm_free(&copy);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  expect(in[3] == 4 && all[3] == 4, 51);
}

static int told = 0;

/* Called inside MPI: what it calls belongs to the call around it. */
static int tell(void* state, MPI_Status* status) {
  (void)state;
  MPI_Barrier(MPI_COMM_SELF);
  MPI_Status_set_elements(status, MPI_INT, 1);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
  ++told;
  return MPI_SUCCESS;
}
static int forget(void* state) {
  (void)state;
  return MPI_SUCCESS;
}
static int cancel(void* state, int complete) {
  (void)state;
  (void)complete;
  return MPI_SUCCESS;
}
static int on_delete(MPI_Comm comm, int key, void* value, void* state) {
  (void)comm;
  (void)key;
  (void)value;
  (void)state;
  MPI_Barrier(MPI_COMM_SELF);
  ++told;
  return MPI_SUCCESS;
}
static void on_error(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  (void)code;
  MPI_Barrier(MPI_COMM_SELF);
  ++told;
}

static void callbacks(void) {
  int key, word = 0;
  MPI_Request request;
  MPI_Status status;
  MPI_Errhandler handler;
  MPI_Comm copy;
  MPI_Grequest_start(tell, forget, cancel, NULL, &request);
  MPI_Grequest_complete(request);
  MPI_Wait(&request, &status);
  expect(told == 1, 41);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_delete, &key, NULL);
  MPI_Comm_dup(world, &copy);
  MPI_Comm_set_attr(copy, key, NULL);
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Comm_set_errhandler(copy, handler);
  MPI_Send(&word, 1, MPI_INT, 5, 41, copy); /* there is no such rank */
  expect(told == 2, 42);
  MPI_Send(&word, 1, MPI_DATATYPE_NULL, 0, 41, copy);
  expect(told == 3, 43);
  MPI_Comm_free(&copy);
  expect(told == 4, 44);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL); /* deleted by MPI_Finalize */
}

int main(int argc, char** argv) {
  int flag, version, minor, length, level;
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Initialized(&flag);
  expect(!flag, 1);
  MPI_Get_library_version(text, &length);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
  MPI_T_cvar_get_num(&version);
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &world);
  no_requests();
  many();
  persistent();
  pending();
  callbacks();
  MPI_Comm_free(&world);
  MPI_T_finalize();
  MPI_Finalize();
  expect(told == 5, 2);
  MPI_Finalized(&flag);
  expect(flag, 3);
  MPI_Get_version(&version, &minor);
  return 0;
}
