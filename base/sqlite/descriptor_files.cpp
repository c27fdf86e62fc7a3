// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A virtual file system of SQLite's with nothing but what one reader or one writer of a whole file
// calls. Locks are none: a file that is read is never changed in place, and one that is written has
// no name yet.
#include "base/sqlite/descriptor_files.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string_view>

namespace culprit {
namespace {

constexpr const char* kName = "culprit-descriptors";

struct OpenFile {
  sqlite3_file base;
  int descriptor;
  bool read_only;
};

int descriptor_of(sqlite3_file* file) {
  return reinterpret_cast<OpenFile*>(file)->descriptor;
}

int read_at(sqlite3_file* file, void* to, int bytes, sqlite3_int64 offset) {
  int done = 0;
  while (done < bytes) {
    const ssize_t got = pread(descriptor_of(file), static_cast<char*>(to) + done,
                              static_cast<size_t>(bytes - done), offset + done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return SQLITE_IOERR_READ;
    if (got == 0) break;
    done += static_cast<int>(got);
  }
  if (done == bytes) return SQLITE_OK;
  std::memset(static_cast<char*>(to) + done, 0, static_cast<size_t>(bytes - done));
  return SQLITE_IOERR_SHORT_READ;
}

int write_at(sqlite3_file* file, const void* from, int bytes, sqlite3_int64 offset) {
  for (int done = 0; done < bytes;) {
    const ssize_t put = pwrite(descriptor_of(file), static_cast<const char*>(from) + done,
                               static_cast<size_t>(bytes - done), offset + done);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return put < 0 && errno != ENOSPC ? SQLITE_IOERR_WRITE : SQLITE_FULL;
    done += static_cast<int>(put);
  }
  return SQLITE_OK;
}

int truncate_to(sqlite3_file* file, sqlite3_int64 bytes) {
  return ftruncate(descriptor_of(file), bytes) == 0 ? SQLITE_OK : SQLITE_IOERR_TRUNCATE;
}

int size_of(sqlite3_file* file, sqlite3_int64* bytes) {
  struct stat found = {};
  if (fstat(descriptor_of(file), &found) != 0) return SQLITE_IOERR_FSTAT;
  *bytes = found.st_size;
  return SQLITE_OK;
}

int characteristics(sqlite3_file* file) {
  return reinterpret_cast<OpenFile*>(file)->read_only ? SQLITE_IOCAP_IMMUTABLE : 0;
}

int is_not_locked(sqlite3_file*, int* locked) {
  *locked = 0;
  return SQLITE_OK;
}

const sqlite3_io_methods* methods() {
  static const sqlite3_io_methods kMethods = [] {
    sqlite3_io_methods m = {};
    m.iVersion = 1;
    m.xClose = [](sqlite3_file*) { return SQLITE_OK; };
    m.xRead = read_at;
    m.xWrite = write_at;
    m.xTruncate = truncate_to;
    m.xSync = [](sqlite3_file*, int) { return SQLITE_OK; };
    m.xFileSize = size_of;
    m.xLock = [](sqlite3_file*, int) { return SQLITE_OK; };
    m.xUnlock = [](sqlite3_file*, int) { return SQLITE_OK; };
    m.xCheckReservedLock = is_not_locked;
    m.xFileControl = [](sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; };
    m.xSectorSize = [](sqlite3_file*) { return 0; };
    m.xDeviceCharacteristics = characteristics;
    return m;
  }();
  return &kMethods;
}

int open_descriptor(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* given) {
  auto* const opened = reinterpret_cast<OpenFile*>(file);
  opened->base.pMethods = nullptr;
  const std::string_view digits = name != nullptr ? name : "";
  const auto [end, code] =
      std::from_chars(digits.data(), digits.data() + digits.size(), opened->descriptor);
  const bool whole = code == std::errc() && end == digits.data() + digits.size();
  if ((flags & SQLITE_OPEN_MAIN_DB) == 0 || !whole) return SQLITE_CANTOPEN;
  opened->read_only = (flags & SQLITE_OPEN_READONLY) != 0;
  opened->base.pMethods = methods();
  if (given != nullptr) *given = flags;
  return SQLITE_OK;
}

int there_is_no_other_file(sqlite3_vfs*, const char*, int, int* there) {
  *there = 0;
  return SQLITE_OK;
}

int same_name(sqlite3_vfs*, const char* name, int room, char* full) {
  if (room <= 0) return SQLITE_CANTOPEN;
  const size_t length = std::min(std::strlen(name), static_cast<size_t>(room) - 1);
  std::memcpy(full, name, length);
  full[length] = '\0';
  return SQLITE_OK;
}

}  // namespace

const char* descriptor_files() {
  static std::once_flag once;
  std::call_once(once, [] {
    // The default one knows the time and has random numbers.
    static sqlite3_vfs vfs = *sqlite3_vfs_find(nullptr);
    vfs.pNext = nullptr;
    vfs.szOsFile = sizeof(OpenFile);
    vfs.zName = kName;
    vfs.xOpen = open_descriptor;
    vfs.xDelete = [](sqlite3_vfs*, const char*, int) { return SQLITE_OK; };
    vfs.xAccess = there_is_no_other_file;
    vfs.xFullPathname = same_name;
    sqlite3_vfs_register(&vfs, 0);
  });
  return kName;
}

std::string name_of_descriptor(int descriptor) {
  return std::to_string(descriptor);
}

}  // namespace culprit
