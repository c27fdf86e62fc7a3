// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Another thread's window is read up to where its records end at the moment: a record is there once
// its second word is, which is stored last, and behind the last one there are zeros.
#include "collector/bursts/log_fold.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "collector/bursts/profile_file.h"
#include "collector/process/recorder.h"
#include "collector/process/system_file.h"
#include "fold/potential/early.h"
#include "fold/thread_fold.h"
#include "trace/raw/values.h"

namespace culprit::collector {

using trace::RawHeader;
using trace::RawKind;

namespace {

/// Pages of zeros stay as they are, so that the file's remain untouched.
void copy_pages(const void* from, void* to, size_t bytes) {
  constexpr size_t kWords = trace::kProfilePage / sizeof(uint64_t);
  const auto* source = static_cast<const uint64_t*>(from);
  auto* target = static_cast<uint64_t*>(to);
  for (size_t page = 0; page < bytes / trace::kProfilePage; ++page) {
    const uint64_t* const words = source + page * kWords;
    uint64_t any = 0;
    for (size_t i = 0; i < kWords; ++i) any |= words[i];
    if (any != 0) memcpy(target + page * kWords, words, trace::kProfilePage);
  }
}

}  // namespace

LogFold* LogFold::make(uint32_t number, uint64_t start_ticks, const std::atomic<bool>& busy,
                       const uint64_t& last_time) {
  const size_t bytes = trace::profile_quota(number);
  void* const memory = map_memory(sizeof(LogFold));
  void* const region = map_memory(bytes);
  if (memory == nullptr || region == nullptr) {
    unmap_memory(memory, sizeof(LogFold));
    unmap_memory(region, bytes);
    return nullptr;
  }
  auto* const log = static_cast<LogFold*>(memory);
  log->number_ = number;
  log->region_ = static_cast<std::byte*>(region);
  log->region_bytes_ = bytes;
  log->busy_ = &busy;
  log->last_time_ = &last_time;
  new (&log->stretches_) fold::ChangeList(log->stretches_memory_, kChanges, number);
  new (&log->changes_) fold::ChangeList(log->changes_memory_, kChanges, number);
  fold::ThreadFold::begin({log->region_, bytes}, number, start_ticks);
  return log;
}

void LogFold::destroy() {
  unmap_memory(region_, region_bytes_);
  unmap_memory(this, sizeof *this);
}

bool LogFold::try_hold() {
  return !held_.load(std::memory_order_relaxed) && !held_.exchange(true, std::memory_order_acquire);
}

bool LogFold::hold(uint64_t longest) {
  if (try_hold()) return true;
  const uint64_t begin = now();
  do {
    sched_yield();
    if (try_hold()) return true;
  } while (now() < begin + longest);
  return false;
}

void LogFold::begin_window(const char* records, size_t bytes, uint64_t number) {
  if (number != window_ || records_ == nullptr) listed_ = 0;
  records_ = records;
  window_bytes_ = bytes;
  window_ = number;
}

bool LogFold::read(size_t end, bool grows) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(records_);
  const bool is_folded = fold::ThreadFold::resume({region_, region_bytes_})
                             .fold(window_, {bytes, end}, end, grows, &stretches_);
  if (listed_ < end) {
    listed_ += reader_.see_all({bytes + listed_, end - listed_}, grows, changes_);
  }
  return is_folded && changes_.has_room();
}

bool LogFold::fold(size_t end) {
  return records_ == nullptr || read(end, false);
}

void LogFold::fold_anyway(size_t end) {
  for (fold::ChangeList* list : {&stretches_, &changes_}) list->set_lossy(true);
  fold(end);
  for (fold::ChangeList* list : {&stretches_, &changes_}) list->set_lossy(false);
}

/// As many as there is room for the changes of: a cut comes back for the rest, and would look at
/// all of a long window each time.
LogFold::Piece LogFold::records_from(size_t from) const {
  Piece piece = {from, false, true};
  for (uint32_t seen = 0; piece.end + sizeof(RawHeader) <= window_bytes_; ++seen) {
    const auto* const words = reinterpret_cast<const uint64_t*>(records_ + piece.end);
    const uint64_t second =
        std::atomic_ref<uint64_t>(const_cast<uint64_t&>(words[1])).load(std::memory_order_acquire);
    RawHeader header;
    memcpy(reinterpret_cast<char*>(&header) + sizeof second, &second, sizeof second);
    if (header.kind == RawKind::none) break;
    if (seen == kChanges) return {piece.end, false, false};
    piece.grows = trace::may_grow(header.kind);
    piece.end += sizeof header + size_t{header.words} * sizeof(uint64_t);
  }
  return piece;
}

size_t LogFold::first_unread() const {
  const auto fold = fold::ThreadFold::resume({region_, region_bytes_});
  return std::min(fold.window() == window_ ? fold.bytes_of_window() : 0, listed_);
}

bool LogFold::fold_what_is_there() {
  if (records_ == nullptr) return true;
  const Piece piece = records_from(first_unread());
  return read(piece.end, piece.grows) && piece.is_all;
}

/// The thread may be about to put a record of a moment that has passed; it has set `busy` then.
uint64_t LogFold::settled(uint64_t until) const {
  if (records_ == nullptr) return until;
  const bool is_busy = busy_->load(std::memory_order_acquire);
  const uint64_t last =
      std::atomic_ref<uint64_t>(const_cast<uint64_t&>(*last_time_)).load(std::memory_order_relaxed);
  return is_busy ? std::min(until, last) : until;
}

uint64_t LogFold::newest_listed() const {
  RawHeader header;
  memcpy(&header, records_ + first_unread(), sizeof header);
  return header.time - 1;
}

void LogFold::begin_at(uint64_t time) {
  stretches_.settle(time);
  changes_.settle(time);
}

void LogFold::close(uint64_t time) {
  changes_.add(time, fold::ChangeKind::ended, 0);
  records_ = nullptr;
  is_closed_ = true;
}

void LogFold::show(const char* path, uint64_t start_ticks) {
  if (was_shown_) return;
  was_shown_ = true;
  void* const shown = profile_file::take(path, start_ticks, region_bytes_);
  if (shown == nullptr) return;
  copy_pages(region_, shown, region_bytes_);
  unmap_memory(region_, region_bytes_);
  region_ = static_cast<std::byte*>(shown);
  is_in_file_ = true;
}

std::span<trace::ProfileRow> LogFold::rows() const {
  const auto& log = *reinterpret_cast<const trace::ProfileLog*>(region_);
  return {reinterpret_cast<trace::ProfileRow*>(region_ + log.rows_at), log.row_count};
}

fold::Ledger LogFold::ledger() {
  constexpr uint32_t kWords = sizeof(trace::ProfileRow) / sizeof(uint64_t);
  return {&rows().front().blame, kWords, static_cast<uint32_t>(rows().size()),
          trace::kProfileBlameShift};
}

void LogFold::share_early(fold::Wide all) {
  const fold::Wide amount = all - early_;
  if (amount == 0) return;
  early_ = all;
  fold::Ledger ledger = this->ledger();
  fold::share_early(rows(), amount, ledger);
}

}  // namespace culprit::collector
