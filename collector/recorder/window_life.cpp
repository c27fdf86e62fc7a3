// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The life of a log's window: how it begins, what happens at the end of a slice of it and when it
// is full, and what becomes of it when its thread ends.
#include <time.h>

#include <algorithm>

#include "collector/bursts/node_page.h"
#include "collector/process/budget.h"
#include "collector/process/process_record.h"
#include "collector/process/system_file.h"
#include "collector/recorder/thread_log.h"

namespace culprit::collector {

using trace::raw_second_half;
using trace::RawHeader;

namespace {

constexpr uint32_t kLongestRetryWait = 64;  // seconds
/// A thread's window is at most this part of the budget for records.
constexpr uint64_t kWindowsOfBudget = 64;
/// A window in memory only is written whenever its content has doubled, then after each kStep
/// bytes: that is the most that is lost when the process is killed.
constexpr uint32_t kFirstStep = 256, kStep = uint32_t{16} << 10;
/// The first window takes room on disk as it fills: this much, then kWider times as much, and
/// again. Most threads of most jobs record next to nothing.
constexpr uint32_t kFirstRoom = uint32_t{16} << 10, kWider = 4;

/// Room for as many bytes and the record behind them.
uint32_t room_for(uint32_t used, uint32_t capacity) {
  uint32_t room = kFirstRoom;
  while (room < capacity && room < used + kFirstRoom / 2) room *= kWider;
  return std::min(room, capacity);
}

/// Nanoseconds of a clock that is good to a few milliseconds and costs next to nothing to read.
uint64_t coarse_now() {
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

uint64_t start_ticks() {
  const trace::RawProcess* record = process();
  return record != nullptr ? record->start_ticks : 0;
}

}  // namespace

/// A window that could not be made counts as full, whatever its size was to be.
void ThreadLog::Impl::begin_window(bool has_files) {
  if (file.window() == nullptr) {
    used = capacity;
    stop = limit;
    return;
  }
  if (!has_files) return;
  if (node::whole_part_is_over()) file.drop_from_now_on();
  begin_step();
  file.seal(sum, grows ? newest : used);
  tally(&trace::RawProcess::logs);
}

void ThreadLog::Impl::begin_step() {
  const uint32_t step = file.is_written_behind() ? std::clamp(used, kFirstStep, kStep) : kSlice;
  stop = std::min(used + step, limit);
}

/// If there is no room for it, the log is none of the whole part.
void ThreadLog::Impl::take_first_window() {
  if (!node::take_for_whole_part(capacity)) node::take_first(capacity);
}

/// A small budget is not spent on windows that are not full.
void ThreadLog::Impl::open(const char* folder, uint32_t number) {
  capacity = static_cast<uint32_t>(budget::take_window(node::budget() / kWindowsOfBudget));
  const uint32_t room = room_for(0, capacity);
  limit = room - trace::kRawSealBytes;
  take_first_window();
  file.open(folder, number, capacity, room, start_ticks());
  digest.begin(folder, number, start_ticks(), file.window(), most_of_window(), busy, last_time);
  begin_window(true);
}

void ThreadLog::Impl::open_scratch() {
  scratch = true;
  file.open_scratch();
  begin_window(false);
}

void ThreadLog::Impl::settle(const char* folder, uint32_t number) {
  const Busy keep_out(busy);
  budget::take_whole_window();
  take_first_window();
  scratch = false;
  const uint32_t room = room_for(used, capacity);
  limit = room - trace::kRawSealBytes;
  file.settle(folder, number, used, room, start_ticks());
  digest.begin(folder, number, start_ticks(), file.window(), most_of_window(), busy, last_time);
  begin_window(true);
}

bool ThreadLog::Impl::rest() {
  end_window();
  memo.clear();
  last.forget();
  return file.window() != nullptr;
}

void ThreadLog::Impl::end_window() {
  const Busy keep_out(busy);
  if (node::whole_part_is_over()) next_window();
}

bool ThreadLog::Impl::close() {
  const NoCancellation whole;
  if (!digest.hold()) return false;
  memo.release();
  paths.release();
  release_python();
  if (file.window() != nullptr) {
    if (grows) finish_newest();
    if (!scratch) digest_window(used, !file.drops());
    put_seal(trace::kRawEndOfLog);
  }
  const bool drops = file.drops();
  file.close(used);
  digest.end();
  if (!scratch) {
    budget::give_back_window(capacity);
    node::give_back(drops ? capacity : capacity - used);
  }
  used = capacity;
  return true;
}

/// False if all of the window has room, or the disk has none: then the window is full.
bool ThreadLog::Impl::widen() {
  const uint32_t room = limit + trace::kRawSealBytes;
  if (room >= capacity || retry_wait != 0 || scratch || file.window() == nullptr) return false;
  const KeepErrno keep;
  const NoCancellation whole;
  const uint32_t wider = std::min(room * kWider, capacity);
  if (!file.widen(room, wider)) return false;
  limit = wider - trace::kRawSealBytes;
  return true;
}

/// A step is over, but the window may not be: then a record of this length has a place in it.
bool ThreadLog::Impl::ends_step(uint32_t bytes) {
  const KeepErrno keep;
  const NoCancellation whole;
  if (grows) finish_newest();
  file.write_behind();
  if (digest.try_hold()) {
    digest.fold(used, false);
    digest.release();
  }
  if (file.drops() && used >= kSlice / 2 && !Digest::goes_on(last_time)) return false;
  begin_step();
  return used + bytes + sizeof(RawHeader) <= limit;
}

/// What is to be kept of the window besides its place in the log, if it has one (`is_kept`). The
/// digest is held, and all records are final.
void ThreadLog::Impl::digest_window(uint32_t end, bool is_kept) {
  digest.fold(end, true);
  digest.finish(file.number_of_window(), file.window(), end, last_time, is_kept);
}

void ThreadLog::Impl::pad() {
  if (grows) finish_newest();
  const uint32_t from = used;
  while (used < limit) {
    unsigned words = static_cast<unsigned>((limit - used - sizeof(RawHeader)) / 8);
    if (words > kMaxWords) words = kMaxWords - 2;  // leaves room for another pad
    auto* to = reinterpret_cast<uint64_t*>(file.window() + used);
    to[0] = last_time;
    std::atomic_ref<uint64_t>(to[1]).store(raw_second_half(RawKind::pad, 0, 0, words),
                                           std::memory_order_release);
    used += record_bytes(words);
  }
  sum += trace::raw_sum(file.window() + from, (used - from) / sizeof(uint64_t),
                        from / sizeof(uint64_t));
  file.seal(sum, used);
}

/// Its room is always reserved. The checksum does not cover its own record.
void ThreadLog::Impl::put_seal(uint16_t flags) {
  const raw::Packed<raw::seal> seal({.bytes = used, .end = flags, .seal = file.seal_of(sum, used)});
  auto* to = reinterpret_cast<uint64_t*>(file.window() + used);
  to[0] = last_time;
  to[2] = seal.words[0];
  std::atomic_ref<uint64_t>(to[1]).store(
      raw_second_half(RawKind::seal, seal.flag_bits, seal.argument, seal.count),
      std::memory_order_release);
  used += trace::kRawSealBytes;
}

// A full disk may get room again, but each try writes up to a whole window: not every record that
// comes meanwhile may cause a try.
void ThreadLog::Impl::put_off_retry() {
  retry_wait = retry_wait == 0 ? 1 : std::min(2 * retry_wait, kLongestRetryWait);
  retry_at = coarse_now() + uint64_t{retry_wait} * 1'000'000'000;
}

/// Whoever holds the window goes on soon, or never, if its thread was cancelled.
void ThreadLog::Impl::put_off_window() {
  constexpr uint32_t kFirst = 16, kMost = 64000;
  until_held_ms = std::min(2 * until_held_ms + kFirst, kMost);
  retry_wait = std::max(retry_wait, 1u);
  retry_at = coarse_now() + uint64_t{until_held_ms} * 1'000'000;
}

/// The room of a window was taken before it began: so the last one of the whole part has some. If
/// the disk has none, the whole part ended with the window before.
bool ThreadLog::Impl::turn_over() {
  if (grows) finish_newest();
  const uint32_t end = used;
  if (file.drops()) {
    digest_window(end, false);
    file.drop(used);
    return true;
  }
  const bool is_last = !node::take_for_whole_part(capacity);
  if (is_last) node::take_first(capacity);  // for the tail
  pad();
  put_seal(0);
  if (file.append_window(used)) {
    digest_window(end, true);
    file.turn_over(used, is_last);
    return true;
  }
  node::give_back(capacity);
  if (!digest.has_profile()) return false;
  node::end_whole_part_for_want_of_disk(digest.window_begin());
  file.drop_from_now_on();
  digest_window(end, false);
  file.drop(used);
  return true;
}

bool ThreadLog::Impl::next_window() {
  if (file.window() == nullptr || scratch) return false;
  const KeepErrno keep;
  const NoCancellation whole;
  if (retry_wait != 0 && coarse_now() < retry_at) return false;
  if (!digest.hold()) {
    put_off_window();
    return false;
  }
  until_held_ms = 0;
  const bool has_turned = turn_over();
  digest.begin_window(file.window(), most_of_window(), file.number_of_window());
  digest.release();
  if (!has_turned) {
    used = limit;
    put_off_retry();
    return false;
  }
  retry_wait = 0;
  used = 0;
  sum = 0;
  begin_step();
  refresh_clock_pair();
  return true;
}

}  // namespace culprit::collector
