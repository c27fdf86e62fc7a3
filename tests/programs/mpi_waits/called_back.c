// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// called_back <case>: inside a call of MPI, one rank is late in a function of the program's that
// MPI calls back. All cases make the other rank wait for late_work(). Two ranks.
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { TIMES = 4 };
static int rank;
static volatile double sink;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void late_work(void) {
  for (const double end = now() + 0.1; now() < end;) {
    for (int i = 0; i < 1000; i++) sink += i;
  }
}
/// No tail call: the function that calls it stays on the stack.
#define BE_LATE  \
  do {           \
    late_work(); \
    sink += 1;   \
  } while (0)

// --- operations: the root puts together what the others send ---

static void add_up(void* in, void* to, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; i++) ((int*)to)[i] += ((int*)in)[i];
  BE_LATE;
}

static void operation(void) {
  MPI_Op add;
  MPI_Op_create(add_up, 1, &add);
  for (int i = 0; i < TIMES; i++) {
    int one = 1, sum = 0;
    MPI_Reduce(&one, &sum, 1, MPI_INT, add, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Op_free(&add);
}

// --- attributes: what belongs to an object is deleted with it ---

static int delete(MPI_Comm from, int key, void* value, void* extra) {
  (void)from, (void)key, (void)value, (void)extra;
  if (rank == 1) BE_LATE;
  return MPI_SUCCESS;
}

static void attribute(void) {
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &key, NULL);
  for (int i = 0; i < TIMES; i++) {
    MPI_Comm own;
    MPI_Comm_dup(MPI_COMM_SELF, &own);
    MPI_Comm_set_attr(own, key, &key);
    MPI_Comm_free(&own);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// --- requests that the program completes itself ---

static int query(void* extra, MPI_Status* status) {
  (void)extra;
  if (rank == 1) BE_LATE;
  MPI_Status_set_elements(status, MPI_INT, 1);
  MPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
static int forget(void* extra) {
  (void)extra;
  return MPI_SUCCESS;
}
static int cancel(void* extra, int complete) {
  (void)extra, (void)complete;
  return MPI_SUCCESS;
}

static void request(void) {
  for (int i = 0; i < TIMES; i++) {
    MPI_Request own;
    MPI_Grequest_start(query, forget, cancel, NULL, &own);
    MPI_Grequest_complete(own);
    MPI_Status status;
    MPI_Wait(&own, &status);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// --- errors ---

static void on_error(MPI_Comm* comm, int* error, ...) {
  (void)comm, (void)error;
  BE_LATE;
}

static void handler(void) {
  MPI_Errhandler own;
  MPI_Comm_create_errhandler(on_error, &own);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, own);
  for (int i = 0; i < TIMES; i++) {
    const int beyond = 99, one = 1;
    if (rank == 1) MPI_Send(&one, 1, MPI_INT, beyond, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* name = argc > 1 ? argv[1] : "";
  if (strcmp(name, "operation") == 0) operation();
  if (strcmp(name, "attribute") == 0) attribute();
  if (strcmp(name, "request") == 0) request();
  if (strcmp(name, "handler") == 0) handler();
  if (rank == 0) printf("%s is over\n", name);
  MPI_Finalize();
  return 0;
}
