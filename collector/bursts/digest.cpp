// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A window is looked at when it is full, not while records are put: where a burst begins is found
// in it, and the state there is what the records before lead to. So a burst costs nothing on the
// path of a record, and a thread that is silent for long writes what it owes when it comes back.
#include "collector/bursts/digest.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdio>
#include <cstring>

#include "collector/bursts/cuts.h"
#include "collector/bursts/node_page.h"
#include "collector/process/process_record.h"
#include "collector/process/system_file.h"
#include "fold/carry.h"
#include "fold/preamble.h"
#include "trace/raw/profile.h"

namespace culprit::collector {

using trace::RawHeader;
using trace::RawKind;

/// As in a file carry.<n>.
struct Digest::State {
  trace::RawCarry at;
  fold::Carry carry;
};

namespace {

RawHeader header_at(const char* records, size_t at) {
  RawHeader header;
  memcpy(&header, records + at, sizeof header);
  return header;
}

size_t bytes_of(const RawHeader& header) {
  return sizeof header + size_t{header.words} * sizeof(uint64_t);
}

}  // namespace

void Digest::begin(const char* folder, uint32_t number, uint64_t start_ticks, const char* records,
                   size_t bytes, const std::atomic<bool>& busy, const uint64_t& last_time) {
  folder_ = folder;
  number_ = number;
  start_ticks_ = start_ticks;
  store_.begin(folder, number, start_ticks);
  state_ = static_cast<State*>(map_memory(sizeof(State)));
  node::take_constant(sizeof(State) + trace::profile_quota(number));
  fold_ = LogFold::make(number, start_ticks, busy, last_time);
  if (fold_ == nullptr) return;
  fold_->begin_window(records, bytes, 0);
  is_cut_ = cuts::add(*fold_);
}

/// The log ends: nothing goes on from its state.
void Digest::end() {
  if (state_was_shown_) unlink(path_of("carry."));
  if (folder_ != nullptr) node::give_back_constant(sizeof(State));
  unmap_memory(state_, sizeof(State));
  state_ = nullptr;
  if (fold_ == nullptr) return;
  fold_->close(last_time_);
  if (is_cut_) {
    fold_->release();
  } else {
    fold_->destroy();
  }
  fold_ = nullptr;
}

/// `file` ends in a dot, and the log's number follows; or it is the whole name.
const char* Digest::path_of(const char* file) {
  static_assert(sizeof buffer_ >= PATH_MAX + 32);
  const bool is_numbered = file[strlen(file) - 1] == '.';
  const int length = snprintf(buffer_, sizeof buffer_, "%s/%s", folder_, file);
  if (is_numbered && length > 0) {
    snprintf(buffer_ + length, sizeof buffer_ - static_cast<size_t>(length), "%u", number_);
  }
  return buffer_;
}

/// From now on the state is in a file, so that the records in a tail can be understood of a thread
/// that never ends its log. Where no file can be mapped it stays in memory.
void Digest::show_state() {
  if (state_was_shown_ || state_ == nullptr) return;
  state_was_shown_ = true;
  const MappedFile mapped = map_file(path_of("carry."), sizeof(State));
  if (mapped.memory == nullptr) return unlink(buffer_), void();
  memcpy(mapped.memory, state_, sizeof(State));
  unmap_memory(state_, sizeof(State));
  state_ = static_cast<State*>(mapped.memory);
}

/// The same for the profile. Until the log's second window is full, its records say as much.
void Digest::show_profile() {
  if (fold_ != nullptr) fold_->show(path_of(trace::kProfileFile), start_ticks_);
}

/// A cut merges nothing of this log while another thread is about to put a record: that one may be
/// waiting for its own log, which cuts hold.
bool Digest::cut_and_fold(size_t used, bool is_folded) {
  constexpr int kInVain = 16;
  for (int in_vain = 0; in_vain < kInVain;) {
    const uint32_t before = fold_->unmerged();
    if (!cuts::make(*fold_) || is_folded) break;
    if (fold_->unmerged() == before) {
      ++in_vain;
      sched_yield();
    }
    is_folded = fold_->fold(used);
    if (is_folded) break;
  }
  return is_folded;
}

/// Where lists are full and no cut can be made, the next slice is the time for it; behind the last
/// one there is none.
void Digest::fold(size_t used, bool is_all) {
  if (fold_ == nullptr) return;
  const uint64_t begin = now(), cpu_begin = own_cpu_ns();
  bool is_folded = fold_->fold(used);
  if (!is_folded || cuts::is_due(*fold_)) is_folded = cut_and_fold(used, is_folded);
  if (!is_folded && is_all) fold_->fold_anyway(used);
  const uint64_t end = now();
  account_.add_records(end, own_cpu_ns() - cpu_begin, used > folded_ ? used - folded_ : 0);
  folded_ = used;
  tally(&trace::RawProcess::fold_ticks, end - begin);
}

bool Digest::goes_on(uint64_t last_time) {
  const trace::RawNodePage& page = node::page();
  if (load(page.length_ns) == 0) return false;
  const Moments moments(page);
  return moments.are_known() && is_in_burst(page, moments, last_time);
}

void Digest::finish(uint64_t window, const char* records, size_t used, uint64_t last_time,
                    bool is_kept) {
  if (window < finished_) return;
  const uint64_t begin = now(), cpu_begin = own_cpu_ns();
  at_ = {window, records, used, last_time_, last_time};
  carried_ = 0;
  if (!is_kept || window > 0) show_profile();
  if (!is_kept) show_state();
  if (!is_kept) keep_definitions();
  if (node::whole_part_is_over()) keep_bursts();
  if (trace::RawProcess* record = process()) {
    std::atomic_ref<uint64_t>(record->whole_end).store(load(node::page().whole_end));
  }
  carry_on(used);
  if (state_ != nullptr) std::atomic_ref<uint64_t>(state_->at.window).store(window + 1);
  finished_ = window + 1;
  last_time_ = last_time;
  folded_ = 0;
  const uint64_t end = now();
  account_.add_records(end, own_cpu_ns() - cpu_begin, 0);
  tally(&trace::RawProcess::burst_ticks, end - begin);
}

/// Carries the state over the window's records up to a place.
void Digest::carry_on(size_t until) {
  if (state_ == nullptr || until <= carried_) return;
  std::atomic_ref<uint64_t>(state_->at.window).store(trace::kRawCarryChanges);
  fold::carry(state_->carry, at_.records + carried_, until - carried_);
  carried_ = until;
}

void Digest::keep_definitions() {
  const Store::Cover cover = {at_.number, at_.begin, at_.end};
  size_t filled = 0;
  const auto write = [&] {
    if (filled == 0) return;
    if (!store_.put_definitions(cover, {buffer_, filled}) && !node::disk_was_full()) {
      tally(&trace::RawProcess::dropped_records);
    }
    filled = 0;
  };
  for (size_t at = 0; at < at_.used;) {
    const RawHeader header = header_at(at_.records, at);
    const size_t bytes = bytes_of(header);
    if (trace::is_definition(header.kind)) {
      if (filled + bytes > sizeof buffer_) write();
      memcpy(buffer_ + filled, at_.records + at, bytes);
      filled += bytes;
    }
    at += bytes;
  }
  write();
}

void Digest::keep_bursts() {
  const trace::RawNodePage& page = node::page();
  const uint64_t whole_end = load(page.whole_end);
  const uint64_t from = std::max(at_.begin, whole_end);
  if (load(page.length_ns) == 0 || at_.end < from) return;
  const Moments moments(page);
  if (!moments.are_known()) return;
  const uint64_t slot_ns = page.schedule.slot_ns;
  node::reach(moments.ns(at_.end) / slot_ns, moments.ns(whole_end) / slot_ns);
  for_each_burst(page, moments, from, at_.end, [&](const Burst& burst) { keep(burst); });
}

/// The first record of the window, from a place on, that is not before `time`.
size_t Digest::first_at(uint64_t time, size_t from) const {
  size_t at = from;
  while (at < at_.used) {
    const RawHeader header = header_at(at_.records, at);
    if (header.time >= time) break;
    at += bytes_of(header);
  }
  return at;
}

void Digest::keep(const Burst& burst) {
  trace::RawBurst* const place = node::burst_of(burst.slot, burst.begin, burst.end);
  if (place == nullptr) return;
  const uint64_t begin = load(place->begin), end = load(place->end);
  if (end <= at_.begin || begin > at_.end) return;
  const bool begins_here = begin > at_.begin;
  const size_t first = begins_here ? first_at(begin, 0) : 0;
  const size_t last = first_at(end, first);
  if (begins_here) {
    store_.open(*place, burst.slot);
    carry_on(first);
    write_preamble(*place, burst.slot, begin);
  }
  store_.put(*place, burst.slot, {at_.number, std::max(begin, at_.begin), std::min(end, at_.end)},
             {}, {at_.records + first, last - first});
}

void Digest::write_preamble(trace::RawBurst& place, uint64_t slot, uint64_t begin) {
  if (state_ == nullptr) return;
  const Store::Cover cover = {at_.number, begin, begin};
  fold::Preamble preamble(state_->carry, begin);
  while (const size_t bytes = preamble.next(buffer_, sizeof buffer_)) {
    store_.put(place, slot, cover, {buffer_, bytes}, {});
  }
}

}  // namespace culprit::collector
