/* SPDX-FileCopyrightText: The culprit authors
   SPDX-License-Identifier: Apache-2.0

   Preloaded: refuses what systems refuse, of the files of records alone, as MPI has files of its
   own that it cannot do without. REFUSE_MMAP and REFUSE_FALLOCATE are the errno with which a file
   is not mapped for writing, and gets no room; after REFUSE_WRITES_AFTER bytes, files that are
   written at a place are told that the disk is full. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int is_of_records(int file) {
  char name[64], path[4096];
  snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(name, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = '\0';
  return strstr(path, "/raw/") != NULL;
}

static long setting(const char* name) {
  const char* text = getenv(name);
  return text != NULL ? atol(text) : 0;
}

void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) {
  const long refusal = setting("REFUSE_MMAP");
  const int writes = (flags & MAP_SHARED) != 0 && (protection & PROT_WRITE) != 0;
  if (refusal != 0 && writes && is_of_records(file)) {
    errno = (int)refusal;
    return MAP_FAILED;
  }
  return (void*)syscall(SYS_mmap, address, bytes, protection, flags, file, offset);
}

int posix_fallocate(int file, off_t offset, off_t bytes) {
  const long refusal = setting("REFUSE_FALLOCATE");
  if (refusal != 0 && is_of_records(file)) return (int)refusal;
  return syscall(SYS_fallocate, file, 0, offset, bytes) == 0 ? 0 : errno;
}

ssize_t pwrite(int file, const void* data, size_t bytes, off_t offset) {
  static long written;
  const char* room = getenv("REFUSE_WRITES_AFTER");
  if (room != NULL && is_of_records(file) &&
      __atomic_add_fetch(&written, (long)bytes, __ATOMIC_RELAXED) > atol(room)) {
    errno = ENOSPC;
    return -1;
  }
  return syscall(SYS_pwrite64, file, data, bytes, offset);
}
