// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// System calls behind the recorder's files. Interrupted calls are repeated: the sampling timer and
// the program's own signals arrive at any time.
#include "collector/process/system_file.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <initializer_list>

namespace culprit::collector {

namespace {

/// Files are written into a folder that others may be able to write to: links of theirs are not
/// followed.
constexpr int kOwn = O_NOFOLLOW | O_NOCTTY;

int open_again(const char* path, int flags, mode_t mode = 0) {
  int file;
  do {
    file = open(path, flags | O_CLOEXEC, mode);
  } while (file < 0 && errno == EINTR);
  return file;
}

/// Beyond the limit the kernel would not only refuse but send SIGXFSZ.
bool is_within_size_limit(size_t bytes) {
  rlimit limit;
  return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
         bytes <= limit.rlim_cur;
}

/// Reserves zeroed room on disk for the range. Returns errno, 0 on success. If a file system cannot
/// promise room, it counts as full: a store into a mapped page without room kills the process.
int reserve(int file, size_t offset, size_t bytes) {
  if (!is_within_size_limit(offset + bytes)) return EFBIG;
  int error;
  do {
    error = posix_fallocate(file, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  } while (error == EINTR);
  return error;
}

}  // namespace

void* map_memory(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void unmap_memory(void* memory, size_t bytes) {
  if (memory != nullptr) munmap(memory, bytes);
}

namespace {

struct Range {
  size_t offset;
  size_t bytes;
};

/// Maps `all`, and makes room for `rooms`.
MappedFile map_with_room(const char* path, Range all, std::initializer_list<Range> rooms) {
  const int file = open_again(path, O_RDWR | O_CREAT | kOwn, 0644);
  if (file < 0) return {nullptr, false, errno};
  int error = 0;
  for (const Range& room : rooms) {
    if (error == 0) error = reserve(file, room.offset, room.bytes);
  }
  void* memory = MAP_FAILED;
  if (error == 0) {
    memory = mmap(nullptr, all.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                  static_cast<off_t>(all.offset));
    error = errno;
  }
  close(file);
  if (memory == MAP_FAILED) return {nullptr, true, error};
  return {memory, true, 0};
}

}  // namespace

MappedFile map_file(const char* path, size_t bytes, size_t offset) {
  return map_with_room(path, {offset, bytes}, {{offset, bytes}});
}

MappedFile map_file_in_part(const char* path, size_t bytes, size_t first, size_t last) {
  // The end comes first: beyond the limit on the size of files nothing is to be left.
  return map_with_room(path, {0, bytes}, {{bytes - last, last}, {0, first}});
}

bool make_room(const char* path, size_t offset, size_t bytes) {
  const int file = open_again(path, O_RDWR | kOwn);
  if (file < 0) return false;
  const bool has_room = reserve(file, offset, bytes) == 0;
  close(file);
  return has_room;
}

void touch_file(const char* path) {
  const int file = open_again(path, O_WRONLY | O_CREAT | kOwn, 0644);
  if (file >= 0) close(file);
}

bool write_at(int file, size_t offset, const char* data, size_t bytes) {
  if (!is_within_size_limit(offset + bytes)) return false;
  size_t written = 0;
  while (written < bytes) {
    const ssize_t done =
        pwrite(file, data + written, bytes - written, static_cast<off_t>(offset + written));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) break;
    written += static_cast<size_t>(done);
  }
  return written == bytes;
}

GrowingFile::GrowingFile(const char* path)
    : file_(open_again(path, O_WRONLY | O_CREAT | kOwn, 0644)) {}

GrowingFile::~GrowingFile() {
  if (file_ >= 0) close(file_);
}

bool GrowingFile::write_at(size_t offset, const char* data, size_t bytes) const {
  return file_ >= 0 && collector::write_at(file_, offset, data, bytes);
}

bool write_at(const char* path, size_t offset, const char* data, size_t bytes) {
  if (!is_within_size_limit(offset + bytes)) return false;
  const int file = open_again(path, O_WRONLY | kOwn);
  if (file < 0) return false;
  const bool written = write_at(file, offset, data, bytes);
  close(file);
  return written;
}

bool write_pieces(const char* path, const Piece* pieces, unsigned count) {
  const int file = open_again(path, O_WRONLY | kOwn);
  if (file < 0) return false;
  bool written = true;
  for (unsigned i = 0; i < count && written; ++i) {
    const Piece& piece = pieces[i];
    written = is_within_size_limit(piece.offset + piece.bytes) &&
              write_at(file, piece.offset, static_cast<const char*>(piece.data), piece.bytes);
  }
  close(file);
  return written;
}

void shorten_file(const char* path, size_t bytes) {
  const int file = open_again(path, O_WRONLY | kOwn);
  if (file < 0) return;
  struct stat status;
  const auto end = static_cast<off_t>(bytes);
  if (fstat(file, &status) == 0 && status.st_size > end && ftruncate(file, end) != 0) {
    // It stays longer, which readers of logs find out.
  }
  close(file);
}

void empty_file(const char* path) {
  const int file = open_again(path, O_WRONLY | O_TRUNC | kOwn);
  if (file >= 0) close(file);
}

bool make_folder(const char* path) {
  return mkdir(path, 0755) == 0 || errno == EEXIST;
}

bool is_file(const char* path) {
  return access(path, R_OK) == 0;
}

bool read_text(const char* path, char* text, size_t capacity) {
  const int file = open_again(path, O_RDONLY);
  if (file < 0) return false;
  size_t length = 0;
  while (length + 1 < capacity) {
    const ssize_t got = read(file, text + length, capacity - 1 - length);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    length += static_cast<size_t>(got);
  }
  close(file);
  if (length > 0 && text[length - 1] == '\n') --length;
  text[length] = '\0';
  return true;
}

}  // namespace culprit::collector
