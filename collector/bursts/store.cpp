// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The order of the steps matters: room is taken before a byte is written, and a place in the file
// before the thread that thins can count the file's bytes. So what goes wrong in between leaves a
// hole, and never more bytes than the budget has.
#include "collector/bursts/store.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>

#include "collector/bursts/moments.h"
#include "collector/bursts/node_page.h"
#include "collector/process/system_file.h"

namespace culprit::collector {

using trace::kRawBurstGone;
using trace::RawBurst;
using trace::RawExtent;

namespace {

/// Definitions may take this much of a node even if the budget is smaller: without them the profile
/// could not be read.
constexpr uint64_t kDefinitions = uint64_t{16} << 20;

uint64_t add(uint64_t& word, uint64_t value) {
  return std::atomic_ref<uint64_t>(word).fetch_add(value, std::memory_order_acq_rel);
}

bool take_for_definitions(size_t bytes) {
  if (node::budget() >= kDefinitions) return node::take(bytes);
  node::take_first(bytes);
  if (load(node::page().taken) <= kDefinitions) return true;
  node::give_back(bytes);
  return false;
}

}  // namespace

void Store::begin(const char* folder, uint32_t number, uint64_t start_ticks) {
  folder_ = folder;
  number_ = number;
  start_ticks_ = start_ticks;
}

const char* Store::path_of(uint64_t slot) {
  snprintf(path_, sizeof path_, "%s/%llu", node::folder(), static_cast<unsigned long long>(slot));
  return path_;
}

const char* Store::definitions_path() {
  snprintf(path_, sizeof path_, "%s/defines.%u", folder_, number_);
  return path_;
}

RawExtent Store::header(uint64_t slot, const Cover& cover, Stretch preamble,
                        Stretch records) const {
  RawExtent extent = {};
  extent.magic = trace::kRawExtentMagic;
  extent.version = trace::kRawVersion;
  extent.start_ticks = start_ticks_;
  extent.pid = static_cast<uint32_t>(getpid());
  extent.log = number_;
  extent.slot = slot;
  extent.window = cover.window;
  extent.from = cover.from;
  extent.until = cover.until;
  extent.preamble = static_cast<uint32_t>(preamble.bytes);
  extent.bytes = static_cast<uint32_t>(records.bytes);
  constexpr size_t kWord = sizeof(uint64_t);
  extent.content = trace::raw_sum(preamble.at, preamble.bytes / kWord) +
                   trace::raw_sum(records.at, records.bytes / kWord, preamble.bytes / kWord);
  extent.sum = trace::sum_of_extent(extent);
  return extent;
}

/// The file is not made here: one that was removed must not come back.
bool Store::write(uint64_t place, const RawExtent& header, Stretch preamble, Stretch records) {
  const Piece pieces[] = {{place, &header, sizeof header},
                          {place + sizeof header, preamble.at, preamble.bytes},
                          {place + sizeof header + preamble.bytes, records.at, records.bytes}};
  return write_pieces(path_, pieces, 3);
}

void Store::open(const RawBurst& burst, uint64_t slot) {
  touch_file(path_of(slot));
  // A thread that thinned bursts meanwhile may have removed it just before.
  if (load(burst.slot) != slot + 1) unlink(path_);
}

void Store::put(RawBurst& burst, uint64_t slot, const Cover& cover, Stretch preamble,
                Stretch records) {
  const size_t bytes = trace::raw_extent_bytes(preamble.bytes + records.bytes);
  if (!node::take(bytes)) {
    add(burst.lost, 1);
    return;
  }
  const uint64_t place = add(burst.bytes, bytes);
  if (place >= kRawBurstGone) return node::give_back(bytes);
  path_of(slot);
  const bool is_written = write(place, header(slot, cover, preamble, records), preamble, records);
  add(is_written ? burst.extents : burst.lost, 1);
}

bool Store::put_definitions(const Cover& cover, Stretch records) {
  const size_t bytes = trace::raw_extent_bytes(records.bytes);
  if (!take_for_definitions(bytes)) return false;
  definitions_path();
  if (defined_ == 0) touch_file(path_);
  const uint64_t place = defined_;
  defined_ += bytes;
  return write(place, header(trace::kRawNoSlot, cover, {}, records), {}, records);
}

}  // namespace culprit::collector
