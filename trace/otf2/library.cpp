// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The complaint is kept per thread, because readers of different locations fail independently. Only
// the first counts: what follows it are OTF2's callers reporting the same on the way up.
#include "trace/otf2/library.h"

#include <fcntl.h>
#include <malloc.h>
#include <otf2/OTF2_Pthread_Locks.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <utility>

namespace culprit::trace {

namespace {

thread_local std::string complaint;

OTF2_ErrorCode keep(void*, const char*, uint64_t, const char*, OTF2_ErrorCode code, const char*,
                    va_list) {
  if (complaint.empty()) complaint = OTF2_Error_GetDescription(code);
  return code;
}

/// malloc then fills what it hands out with this.
void fill_memory([[maybe_unused]] bool with_zeros) {
#ifdef M_PERTURB
  mallopt(M_PERTURB, with_zeros ? 0xff : 0);  // the complement
#endif
}

std::mutex zeroed_mutex;
size_t zeroed = 0;

}  // namespace

void silence_otf2() {
  static std::once_flag once;
  std::call_once(once, [] { OTF2_Error_RegisterCallback(keep, nullptr); });
}

std::string take_otf2_complaint() {
  return std::exchange(complaint, {});
}

void lock_otf2(OTF2_Reader* reader) {
  OTF2_Pthread_Reader_SetLockingCallbacks(reader, nullptr);
}
void lock_otf2(OTF2_Archive* archive) {
  OTF2_Pthread_Archive_SetLockingCallbacks(archive, nullptr);
}

ZeroedMemory::ZeroedMemory() {
  const std::lock_guard lock(zeroed_mutex);
  if (zeroed++ == 0) fill_memory(true);
}

ZeroedMemory::~ZeroedMemory() {
  const std::lock_guard lock(zeroed_mutex);
  if (--zeroed == 0) fill_memory(false);
}

FileState state_of(const std::filesystem::path& file) {
  constexpr char kEndOfBuffer = 2, kEndOfChunk = 1;
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno == ENOENT ? FileState::missing : FileState::cut_short;
  struct stat status{};
  char end[2] = {};
  const bool read = ::fstat(fd, &status) == 0 && status.st_size >= 2 &&
                    ::pread(fd, end, 2, status.st_size - 2) == 2;
  ::close(fd);
  return read && end[0] == kEndOfBuffer && end[1] == kEndOfChunk ? FileState::whole
                                                                 : FileState::cut_short;
}

uint64_t more_records_than(const std::filesystem::path& file) {
  constexpr uint64_t kSmallestRecord = 2;  // its kind and its length
  std::error_code missing;
  const uintmax_t size = std::filesystem::file_size(file, missing);
  return missing ? UINT64_MAX : size / kSmallestRecord + 1;
}

}  // namespace culprit::trace
