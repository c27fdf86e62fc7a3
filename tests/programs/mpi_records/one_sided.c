/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   Every way to synchronise on a window, with every operation, and every family of file transfers.
   one_sided.f90 does the same call by call. Wants 3 processes; argument: a folder for files. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, size, next, prev;
static MPI_Group to_next, to_prev;

static void active(void) {
  int out[4] = {1, 2, 3, 4}, in[4], *base, flag = 0;
  MPI_Win window;
  MPI_Win_allocate(64 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
  MPI_Put(out, 2, MPI_INT, next, 0, 2, MPI_INT, window);
  MPI_Get(in, 3, MPI_INT, prev, 8, 3, MPI_INT, window);
  MPI_Accumulate(out, 1, MPI_INT, next, 16, 1, MPI_INT, MPI_SUM, window);
  MPI_Put(out, 2, MPI_INT, MPI_PROC_NULL, 0, 2, MPI_INT, window);
  MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOSUCCEED, window);

  MPI_Win_post(to_prev, MPI_MODE_NOPUT, window);
  MPI_Win_start(to_next, 0, window);
  MPI_Put(out, 4, MPI_INT, next, 0, 4, MPI_INT, window);
  MPI_Win_complete(window);
  MPI_Win_wait(window);

  MPI_Win_post(to_prev, 0, window);
  MPI_Win_start(to_next, 0, window);
  MPI_Win_complete(window);
  do MPI_Win_test(window, &flag);
  while (!flag);
  MPI_Win_free(&window);
}

static void passive(void) {
  int out[4] = {1, 2, 3, 4}, in[4], *base;
  MPI_Win window;
  MPI_Request requests[4];
  MPI_Win_allocate(64 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, next, 0, window);
  MPI_Put(out, 2, MPI_INT, next, 0, 2, MPI_INT, window);
  MPI_Win_flush(next, window);
  MPI_Get_accumulate(out, 2, MPI_INT, in, 2, MPI_INT, next, 4, 2, MPI_INT, MPI_SUM, window);
  MPI_Win_flush_local(next, window);
  MPI_Get_accumulate(NULL, 0, MPI_INT, in, 3, MPI_INT, next, 4, 3, MPI_INT, MPI_NO_OP, window);
  MPI_Fetch_and_op(out, in, MPI_INT, next, 12, MPI_SUM, window);
  MPI_Compare_and_swap(out, out + 1, in, MPI_INT, next, 13, window);
  MPI_Win_unlock(next, window);
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Win_lock(MPI_LOCK_SHARED, next, MPI_MODE_NOCHECK, window);
  MPI_Win_unlock(next, window);
  MPI_Barrier(MPI_COMM_WORLD);

  MPI_Win_lock_all(0, window);
  MPI_Rput(out, 1, MPI_INT, next, 20, 1, MPI_INT, window, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_Win_flush_all(window);
  MPI_Rget(in, 2, MPI_INT, next, 24, 2, MPI_INT, window, &requests[0]);
  MPI_Raccumulate(out, 1, MPI_INT, next, 28, 1, MPI_INT, MPI_SUM, window, &requests[1]);
  MPI_Rget_accumulate(out, 2, MPI_INT, in + 2, 2, MPI_INT, next, 32, 2, MPI_INT, MPI_SUM, window,
                      &requests[2]);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  MPI_Win_flush_local_all(window);
  MPI_Win_sync(window);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}

static void flavors(void) {
  int memory[4] = {0}, out[2] = {5, 6}, *base;
  MPI_Aint here, there;
  MPI_Comm backward;
  MPI_Win window;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backward);
  MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, backward, &window);
  MPI_Win_fence(0, window);
  MPI_Put(out, 1, MPI_INT, 0, 1, 1, MPI_INT, window); /* the last of the world */
  MPI_Win_fence(0, window);
  MPI_Win_post(to_prev, 0, window);
  MPI_Win_start(to_next, 0, window);
  MPI_Win_complete(window);
  MPI_Win_wait(window);
  MPI_Win_free(&window);
  MPI_Comm_free(&backward);

  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_attach(window, memory, sizeof memory);
  MPI_Get_address(memory, &here);
  MPI_Sendrecv(&here, 1, MPI_AINT, prev, 1, &there, 1, MPI_AINT, next, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Win_lock(MPI_LOCK_SHARED, next, 0, window);
  MPI_Put(out, 2, MPI_INT, next, there, 2, MPI_INT, window);
  MPI_Win_unlock(next, window);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_detach(window, memory);
  MPI_Win_free(&window);

  MPI_Win_allocate_shared(16 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                          &window);
  MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
  MPI_Win_sync(window);
  MPI_Win_unlock_all(window);
  MPI_Win_free(&window);
}

static void blocking_files(MPI_File file) {
  int data[8] = {0};
  MPI_Offset mine = rank * 64;
  MPI_Status status;
  MPI_File_write_at(file, mine, data, 4, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_write_at_all(file, mine, data, 5, MPI_INT, &status);
  MPI_File_read_at(file, 4090, data, 4, MPI_INT, &status); /* the file ends at 4096 */
  MPI_File_read_at_all(file, mine, data, 5, MPI_INT, &status);
  MPI_File_seek(file, mine, MPI_SEEK_SET);
  MPI_File_write(file, data, 3, MPI_INT, &status);
  MPI_File_write_all(file, data, 2, MPI_INT, &status);
  MPI_File_seek(file, mine, MPI_SEEK_SET);
  MPI_File_read(file, data, 3, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_read_all(file, data, 2, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  MPI_File_write_shared(file, data, 1, MPI_INT, &status);
  MPI_File_write_ordered(file, data, 2, MPI_INT, &status);
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  MPI_File_read_shared(file, data, 1, MPI_INT, &status);
  MPI_File_read_ordered(file, data, 2, MPI_INT, &status);
}

static void nonblocking_files(MPI_File file) {
  int data[8] = {0}, more[8] = {0};
  MPI_Offset mine = rank * 64;
  MPI_Request requests[2];
  MPI_Status status;
  MPI_File_iwrite_at(file, mine, data, 4, MPI_INT, &requests[0]);
  MPI_Wait(&requests[0], &status);
  MPI_File_seek(file, mine, MPI_SEEK_SET);
  MPI_File_iread(file, more, 2, MPI_INT, &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  MPI_File_iread_at(file, mine, more, 3, MPI_INT, &requests[0]);
  MPI_File_iwrite(file, data, 1, MPI_INT, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_File_iwrite_at_all(file, mine, data, 4, MPI_INT, &requests[0]);
  MPI_Wait(&requests[0], &status);
  MPI_File_iread_at_all(file, mine, data, 4, MPI_INT, &requests[0]);
  MPI_Wait(&requests[0], &status);
  MPI_File_iwrite_all(file, data, 1, MPI_INT, &requests[0]);
  MPI_Wait(&requests[0], &status);
  MPI_File_iread_all(file, data, 1, MPI_INT, &requests[0]);
  MPI_Wait(&requests[0], &status);
}

static void split_files(MPI_File file) {
  int data[8] = {0};
  MPI_Offset mine = rank * 64;
  MPI_Status status;
  MPI_File_write_at_all_begin(file, mine, data, 4, MPI_INT);
  MPI_File_write_at_all_end(file, data, &status);
  MPI_File_read_at_all_begin(file, mine, data, 3, MPI_INT);
  MPI_File_read_at_all_end(file, data, MPI_STATUS_IGNORE);
  MPI_File_seek(file, mine, MPI_SEEK_SET);
  MPI_File_write_all_begin(file, data, 2, MPI_INT);
  MPI_File_write_all_end(file, data, &status);
  MPI_File_read_all_begin(file, data, 2, MPI_INT);
  MPI_File_read_all_end(file, data, &status);
  MPI_File_seek_shared(file, 0, MPI_SEEK_SET);
  MPI_File_write_ordered_begin(file, data, 1, MPI_INT);
  MPI_File_write_ordered_end(file, data, &status);
  MPI_File_read_ordered_begin(file, data, 1, MPI_INT);
  MPI_File_read_ordered_end(file, data, &status);
}

static void files(const char* folder) {
  char name[4096];
  int data[2] = {0};
  MPI_File file;
  snprintf(name, sizeof name, "%s/all", folder);
  MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_set_size(file, 4096);
  MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
  blocking_files(file);
  nonblocking_files(file);
  split_files(file);
  MPI_File_sync(file);
  MPI_File_preallocate(file, 4096);
  MPI_File_close(&file);

  snprintf(name, sizeof name, "%s/own%d", folder, rank);
  MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &file);
  MPI_File_write(file, data, 2, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
}

#if MPI_VERSION >= 4
static void large_counts(const char* folder) {
  int out[4] = {1, 2, 3, 4}, in[4], *base;
  char name[4096];
  MPI_Win window;
  MPI_File file;
  MPI_Win_allocate_c(64 * sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &base, &window);
  MPI_Win_fence(0, window);
  MPI_Put_c(out, 2, MPI_INT, next, 0, 2, MPI_INT, window);
  MPI_Get_c(in, 3, MPI_INT, prev, 8, 3, MPI_INT, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
  snprintf(name, sizeof name, "%s/large", folder);
  MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_write_at_all_c(file, rank * 16, out, 4, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
}
#endif

int main(int argc, char** argv) {
  const char* folder = argc > 1 ? argv[1] : ".";
  MPI_Group world;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  next = (rank + 1) % size;
  prev = (rank + size - 1) % size;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &next, &to_next);
  MPI_Group_incl(world, 1, &prev, &to_prev);
  active();
  passive();
  flavors();
  files(folder);
#if MPI_VERSION >= 4
  large_counts(folder);
#endif
  MPI_Finalize();
  return 0;
}
