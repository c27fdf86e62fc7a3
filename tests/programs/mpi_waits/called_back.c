// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0
//
// called_back <case>: inside a call of MPI, one rank is late in a function of the program's that
// MPI calls back. All cases make the other rank wait for late_work() or late_nap(). Two ranks.
#include <dlfcn.h>
#include <mpi.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
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
/// As long, without a core.
__attribute__((noinline)) static void late_nap(void) {
  const struct timespec time = {0, 100 * 1000 * 1000};
  nanosleep(&time, NULL);
  sink += 1;
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

static void add_asleep(void* in, void* to, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; i++) ((int*)to)[i] += ((int*)in)[i];
  late_nap();
  sink += 1;
}

static void reduce(MPI_Op add) {
  for (int i = 0; i < TIMES; i++) {
    int one = 1, sum = 0;
    MPI_Reduce(&one, &sum, 1, MPI_INT, add, 0, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Op_free(&add);
}

static void operation(void) {
  MPI_Op add;
  MPI_Op_create(add_up, 1, &add);
  reduce(add);
}
static void operation_asleep(void) {
  MPI_Op add;
  MPI_Op_create(add_asleep, 1, &add);
  reduce(add);
}

/// A library has the operation, and makes it known to MPI; this program uses it.
static void library(const char* program) {
  char path[4096];
  snprintf(path, sizeof path, "%s.so", program);
  void* const handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  MPI_Op (*const make)(void) = handle != NULL ? (MPI_Op(*)(void))dlsym(handle, "make") : NULL;
  if (make == NULL) {
    fprintf(stderr, "there is no %s\n", path);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
  }
  reduce(make());
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

static int delete_asleep(MPI_Comm from, int key, void* value, void* extra) {
  (void)from, (void)key, (void)value, (void)extra;
  if (rank == 1) poll(NULL, 0, 100);
  return MPI_SUCCESS;
}

/// Who is asleep in the call makes others wait at the barrier.
static void attribute_asleep(void) {
  int key;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_asleep, &key, NULL);
  for (int i = 0; i < TIMES; i++) {
    MPI_Comm own;
    MPI_Comm_dup(MPI_COMM_SELF, &own);
    MPI_Comm_set_attr(own, key, &key);
    MPI_Comm_free(&own);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// The others wait in the very call in which the function is called.

static int copy(MPI_Comm from, int key, void* extra, void* value, void* to, int* is_copied) {
  (void)from, (void)key, (void)extra;
  *(void**)to = value;
  *is_copied = 1;
  if (rank == 1) BE_LATE;
  return MPI_SUCCESS;
}

static void duplicate(void) {
  int key;
  MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, &key);
  for (int i = 0; i < TIMES; i++) {
    MPI_Comm own;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Comm_free(&own);
  }
}

static int delete_of_window(MPI_Win from, int key, void* value, void* extra) {
  (void)from, (void)key, (void)value, (void)extra;
  if (rank == 1) BE_LATE;
  return MPI_SUCCESS;
}

static void window(void) {
  int key;
  MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_of_window, &key, NULL);
  for (int i = 0; i < TIMES; i++) {
    MPI_Win own;
    MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own);
    MPI_Win_set_attr(own, key, &key);
    MPI_Win_free(&own);
  }
}

static void end(void) {
  for (int i = 0; i < TIMES; i++) {
    int key;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, &sink);
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
  if (strcmp(name, "operation_asleep") == 0) operation_asleep();
  if (strcmp(name, "library") == 0) library(argv[0]);
  if (strcmp(name, "attribute") == 0) attribute();
  if (strcmp(name, "attribute_asleep") == 0) attribute_asleep();
  if (strcmp(name, "duplicate") == 0) duplicate();
  if (strcmp(name, "window") == 0) window();
  if (strcmp(name, "end") == 0) end();
  if (strcmp(name, "request") == 0) request();
  if (strcmp(name, "handler") == 0) handler();
  if (rank == 0) printf("%s is over\n", name);
  MPI_Finalize();
  return 0;
}
