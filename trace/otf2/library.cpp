// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The complaint is kept per thread, because readers of different locations fail independently. Only
// the first counts: what follows it are OTF2's callers reporting the same on the way up.
#include "trace/otf2/library.h"

#include <malloc.h>
#include <otf2/OTF2_Pthread_Locks.h>

#include <mutex>
#include <utility>

#include "base/files/guarded_path.h"

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
  const GuardedPath place = GuardedPath::of_file(file);
  const auto opened = place.open();
  if (!opened) return place.exists() ? FileState::cut_short : FileState::missing;
  char end[2] = {};
  const bool read = opened->size() >= 2 && opened->read_at(opened->size() - 2, end, 2) == 2;
  return read && end[0] == kEndOfBuffer && end[1] == kEndOfChunk ? FileState::whole
                                                                 : FileState::cut_short;
}

uint64_t more_records_than(const std::filesystem::path& file) {
  const auto opened = GuardedPath::of_file(file).open();
  return opened ? more_records_than(*opened) : UINT64_MAX;
}

uint64_t more_records_than(const RegularFile& file) {
  constexpr uint64_t kSmallestRecord = 2;  // its kind and its length
  uint64_t bytes = 0;                      // those in a hole are no records
  for (const Extent& extent : file.data()) bytes += extent.end - extent.begin;
  return bytes / kSmallestRecord + 1;
}

}  // namespace culprit::trace
