// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The order of the steps in append_window() and turn_over() matters: at any moment the process may
// be killed, and a reader must find each record once. While the window is appended, the tail still
// counts, and the blocks of it that are already in the other file do not; once the last one has
// arrived, the tail no longer does; the tail counts again, empty, when it says that it is the next
// window. Meanwhile it has no checksum, as none would fit either window.
#include "collector/recorder/log_file.h"

#include <sched.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "collector/process/environment.h"
#include "collector/process/process_record.h"
#include "collector/process/system_file.h"
#include "trace/raw/raw.h"

namespace culprit::collector {

using trace::kRawWindow;
using trace::RawTail;

namespace {

constexpr uint64_t kWindowsOfEstimate = 4;
constexpr char kTailName[] = ".tail";

size_t tail_bytes(size_t window_bytes) {
  return window_bytes + sizeof(RawTail);
}

}  // namespace

const char* LogFile::path_with(const char* suffix) {
  memcpy(path_ + length_, suffix, strlen(suffix) + 1);
  return path_;
}

void LogFile::reseed(uint64_t window) {
  seed_ = trace::raw_seed(start_ticks_, number_, window);
}

namespace {

/// Logs whose windows are in memory only. While one is written by another thread, its entry holds a
/// mark, and its own thread waits until the mark is gone before it releases the memory.
std::atomic<LogFile*> g_in_memory[1024];

LogFile* being_written() {
  alignas(LogFile) static char mark[sizeof(LogFile*)];
  return reinterpret_cast<LogFile*>(mark);
}

}  // namespace

/// If the list has no room, the end of the process does not write this log.
void LogFile::be_in_memory(int refusal) {
  window_ = static_cast<char*>(map_memory(tail_bytes(window_bytes_)));
  if (window_ == nullptr) return;
  in_memory_ = true;
  tell_written_behind(refusal);
  for (std::atomic<LogFile*>& place : g_in_memory) {
    LogFile* nobody = nullptr;
    if (!place.compare_exchange_strong(nobody, this)) continue;
    place_ = &place;
    return;
  }
}

void LogFile::leave_list() {
  if (place_ == nullptr) return;
  for (LogFile* self = this; !place_->compare_exchange_weak(self, nullptr); self = this) {
    sched_yield();
  }
  place_ = nullptr;
}

/// Writes the tail of a window whose file has its first `has` bytes, and more if this succeeds. The
/// checksum is read once: bytes that it does not cover are not written.
bool LogFile::write_tail(const char* path, RawTail& copy, size_t& has) {
  memcpy(&copy, &tail(), sizeof copy);
  const size_t sealed = trace::words_of_seal(copy.seal) * sizeof(uint64_t);
  if (has > sealed) has = sealed;
  const Piece pieces[] = {{has, window_ + has, sealed - has}, {window_bytes_, &copy, sizeof copy}};
  if (!write_pieces(path, pieces, 2)) return false;
  has = sealed;
  return true;
}

bool LogFile::write_behind() {
  return !in_memory_ || !has_file_ || write_tail(path_with(kTailName), shown_, written_);
}

unsigned LogFile::write_all() {
  static std::atomic_flag writing = ATOMIC_FLAG_INIT;
  static RawTail copy;
  static char path[PATH_MAX + sizeof kTailName];
  if (writing.test_and_set(std::memory_order_acquire)) return 0;
  unsigned missing = 0;
  for (std::atomic<LogFile*>& place : g_in_memory) {
    LogFile* log = place.load();
    if (log == nullptr || !place.compare_exchange_strong(log, being_written())) continue;
    memcpy(path, log->path_, static_cast<size_t>(log->length_));
    memcpy(path + log->length_, kTailName, sizeof kTailName);
    size_t has = 0;
    if (log->has_file_ && !log->write_tail(path, copy, has)) ++missing;
    place.store(log);
  }
  writing.clear(std::memory_order_release);
  return missing;
}

bool LogFile::open(const char* folder, uint32_t number, size_t window_bytes, size_t room,
                   uint64_t start_ticks) {
  length_ = snprintf(path_, PATH_MAX, "%s/events.%u", folder, number);
  if (length_ <= 0 || length_ >= PATH_MAX) return false;
  number_ = number;
  start_ticks_ = start_ticks;
  reseed(0);
  window_bytes_ = window_bytes;
  const MappedFile mapped =
      map_file_in_part(path_with(kTailName), tail_bytes(window_bytes), room, sizeof(RawTail));
  window_ = static_cast<char*>(mapped.memory);
  // Beyond the limit on the size of files it could not be written either.
  if (mapped.is_made && window_ == nullptr && mapped.refusal != EFBIG) be_in_memory(mapped.refusal);
  has_file_ = window_ != nullptr;
  return has_file_;
}

bool LogFile::widen(size_t before, size_t room) {
  return in_memory_ || make_room(path_with(kTailName), before, room - before);
}

bool LogFile::open_scratch() {
  window_bytes_ = kRawWindow;
  window_ = static_cast<char*>(map_memory(tail_bytes(window_bytes_)));
  return window_ != nullptr;
}

// The first record's kind is stored last: until then the log counts as empty.
bool LogFile::settle(const char* folder, uint32_t number, size_t used, size_t room,
                     uint64_t start_ticks) {
  char* const from = window_;
  const size_t bytes = window_bytes_;
  if (!open(folder, number, bytes, room, start_ticks)) {
    unmap_memory(from, tail_bytes(bytes));
    return false;
  }
  memcpy(tail().open, reinterpret_cast<const RawTail*>(from + bytes)->open, sizeof tail().open);
  if (used >= sizeof(trace::RawHeader)) {
    uint64_t second_half;
    memcpy(window_, from, sizeof second_half);
    memcpy(&second_half, from + sizeof second_half, sizeof second_half);
    memcpy(window_ + sizeof(trace::RawHeader), from + sizeof(trace::RawHeader),
           used - sizeof(trace::RawHeader));
    std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t*>(window_ + sizeof second_half))
        .store(second_half, std::memory_order_release);
  }
  unmap_memory(from, tail_bytes(bytes));
  return true;
}

bool LogFile::is_only_counted() {
  return environment().count_only && tail().window >= kWindowsOfEstimate;
}

/// Each block is in the file before the next one is made: none of the window counts before the last
/// is there.
bool LogFile::append_blocks(size_t bytes, size_t window_bytes) {
  const trace::RawPacker::Window window = {window_, bytes, static_cast<uint32_t>(window_bytes),
                                           tail().window,
                                           trace::raw_block_seed(start_ticks_, number_)};
  const GrowingFile file(path_with(trace::kRawPackedSuffix));
  size_t at = packed_bytes_;
  for (size_t begin = 0; begin < bytes;) {
    begin = packer_.pack(window, begin);
    const std::span<const char> block = packer_.block();
    if (!file.write_at(at, block.data(), block.size())) return false;
    at += block.size();
  }
  packed_bytes_ = at;
  return true;
}

/// False if that is impossible: then nothing of it is in the file.
bool LogFile::append(size_t bytes, size_t window_bytes) {
  if (append_blocks(bytes, window_bytes)) return true;
  shorten_file(path_with(trace::kRawPackedSuffix), packed_bytes_);
  return false;
}

void LogFile::clear(size_t used) {
  std::atomic_ref<uint64_t>(tail().seal).store(0, std::memory_order_release);
  memset(window_, 0, used);
  const uint64_t next = tail().window + 1;
  std::atomic_ref<uint64_t>(tail().window).store(next, std::memory_order_release);
  reseed(next);
  seal(0, 0);
  if (!in_memory_) return;
  empty_file(path_with(kTailName));  // the tail's content belongs to the window before
  written_ = 0;
  write_behind();
}

void LogFile::drop_from_now_on() {
  std::atomic_ref<uint64_t>(tail().kept).store(tail().window + 1, std::memory_order_release);
}

bool LogFile::append_window(size_t bytes) {
  if (!has_file_) return false;
  return is_only_counted() || append(bytes, bytes);
}

void LogFile::turn_over(size_t bytes, bool is_last) {
  clear(bytes);
  if (is_last) drop_from_now_on();
}

void LogFile::close(size_t used) {
  if (window_ == nullptr) return;
  leave_list();
  if (has_file_ && !is_only_counted()) {
    if (drops() || append(used, window_bytes_)) {
      unlink(path_with(kTailName));
    } else if (!write_behind()) {
      tally(&trace::RawProcess::dropped_records);
    }
  }
  unmap_memory(window_, tail_bytes(window_bytes_));
  window_ = nullptr;
  has_file_ = false;
}

}  // namespace culprit::collector
