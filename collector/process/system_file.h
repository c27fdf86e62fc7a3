// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Files and memory straight from the kernel. The collector uses neither malloc nor stdio: it is
// also called from signal handlers and from inside the program's own allocator. No file descriptor
// outlives a call, because programs close descriptors that they do not know.
// MT: safe. Async-signal-safe, but for what `errno` does (KeepErrno).
#pragma once

#include <pthread.h>

#include <cerrno>
#include <cstddef>

namespace culprit::collector {

/// The program must not see that the collector made system calls.
class KeepErrno {
 public:
  KeepErrno() : saved_(errno) {}
  ~KeepErrno() { errno = saved_; }
  KeepErrno(const KeepErrno&) = delete;
  KeepErrno& operator=(const KeepErrno&) = delete;

 private:
  int saved_;
};

/// Meanwhile the thread is not cancelled: others would wait for what it holds.
class NoCancellation {
 public:
  NoCancellation() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NoCancellation() { pthread_setcancelstate(before_, nullptr); }
  NoCancellation(const NoCancellation&) = delete;
  NoCancellation& operator=(const NoCancellation&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

/// Zeroed memory, or nullptr. Pages cost nothing until touched.
void* map_memory(size_t bytes);
void unmap_memory(void* memory, size_t bytes);

/// A file that is mapped and shared: stored data is in the file, however the process ends.
struct MappedFile {
  void* memory = nullptr;
  bool is_made = false;  ///< the file exists
  int refusal = 0;       ///< errno, if there is no memory
};

/// Makes a file of `bytes` zeros and maps it, after making sure that the disk has room for it: a
/// store into a mapped page that the disk cannot hold would kill the program with SIGBUS. `offset`:
/// where the bytes begin in it, in whole pages; what lies before may be a hole.
MappedFile map_file(const char* path, size_t bytes, size_t offset = 0);

/// The same for a file of which only the first bytes and the last have room so far, on whole pages;
/// the others are a hole, which may be read.
MappedFile map_file_in_part(const char* path, size_t bytes, size_t first, size_t last);

/// Makes room for a part of an existing file. False if there is none.
bool make_room(const char* path, size_t offset, size_t bytes);

/// A file that is written piece by piece, made if there is none; closed with its owner, within one
/// call of the recorder.
class GrowingFile {
 public:
  explicit GrowingFile(const char* path);
  ~GrowingFile();
  GrowingFile(const GrowingFile&) = delete;
  GrowingFile& operator=(const GrowingFile&) = delete;
  /// False if it could not be opened, or as write_at.
  bool write_at(size_t offset, const char* data, size_t bytes) const;

 private:
  const int file_;
};

/// Makes an empty file if there is none.
void touch_file(const char* path);

/// Writes into an existing file. False if it does not all fit on the disk or within the process's
/// limits.
bool write_at(const char* path, size_t offset, const char* data, size_t bytes);
/// The same, to a descriptor.
bool write_at(int file, size_t offset, const char* data, size_t bytes);

struct Piece {
  size_t offset;  ///< in the file
  const void* data;
  size_t bytes;
};
/// Writes several pieces one after the other into an existing file. False as write_at.
bool write_pieces(const char* path, const Piece* pieces, unsigned count);
/// Removes what an existing file has beyond `bytes`.
void shorten_file(const char* path, size_t bytes);
/// Truncates an existing file to no bytes.
void empty_file(const char* path);

bool is_file(const char* path);

/// Makes a folder; true also if it exists already.
bool make_folder(const char* path);

/// Reads a small file into `text`, zero-terminated, without the last newline. False if unreadable.
bool read_text(const char* path, char* text, size_t capacity);

}  // namespace culprit::collector
