// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A window is looked at when it is full, not while records are put: where a burst begins is found
// in it, and the state there is what the records before lead to. So a burst costs nothing on the
// path of a record, and a thread that is silent for long writes what it owes when it comes back.
#include "collector/bursts/digest.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdio>
#include <cstring>

#include "collector/bursts/node_page.h"
#include "collector/process/process_record.h"
#include "collector/process/system_file.h"
#include "fold/carry.h"
#include "fold/preamble.h"

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

void Digest::begin(const char* folder, uint32_t number, uint64_t start_ticks) {
  folder_ = folder;
  number_ = number;
  store_.begin(folder, number, start_ticks);
  state_ = static_cast<State*>(map_memory(sizeof(State)));
}

/// The log ends: nothing goes on from its state.
void Digest::end() {
  if (is_shown_) {
    snprintf(buffer_, sizeof buffer_, "%s/carry.%u", folder_, number_);
    unlink(buffer_);
  }
  unmap_memory(state_, sizeof(State));
  state_ = nullptr;
}

/// From now on the state is in a file, so that the records in a tail can be understood of a thread
/// that never ends its log. Where no file can be mapped it stays in memory.
void Digest::show_state() {
  if (is_shown_ || state_ == nullptr) return;
  static_assert(sizeof buffer_ >= PATH_MAX + 32);
  snprintf(buffer_, sizeof buffer_, "%s/carry.%u", folder_, number_);
  const MappedFile mapped = map_file(buffer_, sizeof(State));
  if (mapped.memory == nullptr) return unlink(buffer_), void();
  memcpy(mapped.memory, state_, sizeof(State));
  unmap_memory(state_, sizeof(State));
  state_ = static_cast<State*>(mapped.memory);
  is_shown_ = true;
}

void Digest::fold(uint64_t, const char*, size_t) {}

bool Digest::goes_on(uint64_t last_time) {
  const trace::RawNodePage& page = node::page();
  if (page.length_ns == 0) return false;
  const Moments moments(page);
  return moments.are_known() && is_in_burst(page, moments, last_time);
}

void Digest::finish(uint64_t window, const char* records, size_t used, uint64_t last_time,
                    bool is_kept) {
  if (window < finished_) return;
  const uint64_t begin = now();
  at_ = {window, records, used, last_time_, last_time};
  carried_ = 0;
  if (!is_kept) show_state();
  if (!is_kept) keep_definitions();
  if (node::whole_part_is_over()) keep_bursts();
  if (trace::RawProcess* record = process()) record->whole_end = node::page().whole_end;
  carry_on(used);
  if (state_ != nullptr) std::atomic_ref<uint64_t>(state_->at.window).store(window + 1);
  finished_ = window + 1;
  last_time_ = last_time;
  tally(&trace::RawProcess::burst_ticks, now() - begin);
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
    if (!store_.put_definitions(cover, {buffer_, filled})) {
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
  const uint64_t from = std::max(at_.begin, page.whole_end);
  if (page.length_ns == 0 || at_.end < from) return;
  const Moments moments(page);
  if (!moments.are_known()) return;
  const uint64_t slot_ns = page.schedule.slot_ns;
  node::reach(moments.ns(at_.end) / slot_ns, moments.ns(page.whole_end) / slot_ns);
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
  const uint64_t begin = place->begin, end = place->end;
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
