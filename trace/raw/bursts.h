// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the collector keeps of a run whose records do not all fit into its budget (trace/raw/raw.h
// has the rest):
//
//   raw/bursts/<node>/page   RawNodePage, mapped by all processes of a node: budget, schedule and
//                            bursts
//   raw/bursts/<node>/<slot> what the node's logs recorded in the burst of this slot: RawExtents
//   raw/<process>/defines.<n>   records of thread n that other records need in order to be
//                            understood (kinds that are DEFINES in records.def): RawExtents
//   raw/<process>/carry.<n>  RawCarry and, behind it, the state of thread n (fold/carry_state.h) at
//                            the begin of its tail, mapped; absent once the thread ended
//
// **The whole part.** All records are kept until half of a node's budget is taken, at the moment
// RawNodePage::whole_end. Each log then appends the window at hand to its file, for which room
// was reserved when it began, and no further one. So that file (with the tail, if its window is
// the next one) has all records up to that moment and some behind it. From then on each full window
// is folded into the profile, its definitions go to defines.<n>, the records that lie in a burst go
// to that burst, and the rest is dropped. A tail, if there is one, always has the newest records.
//
// **The schedule.** Time is cut into slots of RawSchedule::slot_ns, counted from the epoch of
// CLOCK_REALTIME; the burst of a slot begins at a place in it that a hash of its number chooses. At
// level L one slot of each 2^L has a burst, also chosen by hashes, and the slots of level L + 1 are
// among those of level L. Nothing but the schedule decides, so all ranks have bursts at the same
// moments without a message between them. Each node raises its own level, when it has too many
// bursts or too little room for them: the bursts that all nodes have are those of the highest
// level. Bursts that begin before whole_end are not kept: the whole part has them.
//
// **An extent** has what one log recorded of one burst in one window, and covers [from, until) of
// the burst: the log has no other record in this time. Those of a log in a burst, in the order of
// their places, cover all of it, or else the end is missing: the process was killed, there was no
// room (RawBurst::lost), or the log's newest records are still in its tail. They begin with the
// preamble, the records that describe the state that the log is in at the burst's begin, in extents
// of its own. Definitions are in defines.<n>, and in the whole part; an extent has those of its own
// window as well.
//
// Room is taken in the page before an extent is written. A process that is killed in between leaves
// a hole: where there is no sound extent, a reader goes on at the next multiple of kRawExtentAlign.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/raw/raw.h"
#include "trace/raw/seal.h"

namespace culprit::trace {

inline constexpr uint32_t kRawPageMagic = 0x47415043;    // "CPAG"
inline constexpr uint32_t kRawExtentMagic = 0x54584543;  // "CEXT"
inline constexpr const char* kRawBurstsFolder = "bursts";
inline constexpr const char* kRawPageFile = "page";

/// Decides when bursts are. Durations are nanoseconds, moments nanoseconds since the epoch of
/// CLOCK_REALTIME.
struct RawSchedule {
  uint64_t seed;
  uint64_t slot_ns;
  uint64_t burst_ns;  ///< less than slot_ns
};

/// A number that looks random, the same for all who ask.
constexpr uint64_t raw_burst_hash(uint64_t seed, uint64_t level, uint64_t number) {
  const uint64_t mixed = raw_sum_of(number, raw_sum_of(level, seed));
  return raw_sum_of(mixed, 1);
}

/// Of the slots [block << level, (block + 1) << level), the one that has a burst at this level.
constexpr uint64_t raw_burst_slot(const RawSchedule& schedule, uint64_t level, uint64_t block) {
  uint64_t slot = block;
  for (; level > 0; --level) {
    slot = 2 * slot + (raw_burst_hash(schedule.seed, level, slot) & 1);
  }
  return slot;
}

/// Whether the slot has a burst at this level.
constexpr bool raw_has_burst(const RawSchedule& schedule, uint64_t level, uint64_t slot) {
  return raw_burst_slot(schedule, level, slot >> level) == slot;
}

/// When the burst of a slot begins, without the margin.
constexpr uint64_t raw_burst_begin_ns(const RawSchedule& schedule, uint64_t slot) {
  const uint64_t places = schedule.slot_ns - schedule.burst_ns;
  return slot * schedule.slot_ns + raw_burst_hash(schedule.seed, 0, slot) % places;
}

/// One burst of a node. Its file is complete once no log has a window at hand that began before the
/// burst's end.
struct RawBurst {
  uint64_t slot;   ///< plus 1; 0: the entry is free
  uint64_t begin;  ///< ticks, with the margin for clocks that differ; 0: not known yet
  uint64_t end;    ///< likewise
  uint64_t bytes;  ///< of its file, taken so far; from kRawBurstGone on: it is being removed
  uint64_t extents;
  uint64_t lost;  ///< extents that were not written: no room, or the disk was full
  uint64_t unused[2];
};
static_assert(sizeof(RawBurst) == 64);
inline constexpr uint64_t kRawBurstGone = uint64_t{1} << 63;
inline constexpr size_t kRawBursts = 128;

/// File `page`. All words behind `begin` are atomic.
struct RawNodePage {
  uint32_t magic;
  uint32_t version;  ///< kRawVersion
  RawSchedule schedule;
  uint64_t budget;     ///< bytes of all files of the node; 0: there is only the profile
  uint64_t margin_ns;  ///< by which bursts begin earlier and end later than the schedule says
  RawClockPair begin;  ///< a moment on all clocks: the schedule's time is realtime_ns of it, plus
                       ///< the time that CLOCK_MONOTONIC has gone on since
  uint64_t processes;  ///< of the node that have begun
  uint64_t taken;      ///< bytes of the budget
  uint64_t whole_end;  ///< ticks; 0: the whole part has not ended
  uint64_t length_ns;  ///< of bursts, at most RawSchedule::burst_ns: they are shorter where records
                       ///< come so fast that too few would have room. 0: there are none
  uint64_t most;       ///< bursts; more raise the level
  uint64_t level;      ///< of the bursts that are kept
  uint64_t thinned;    ///< bursts that were removed
  uint64_t refused;    ///< bytes that found no room although all was thinned that could be
  uint64_t thinning;   ///< since when a thread removes bursts, on CLOCK_MONOTONIC; 0: none does
  uint64_t constant;   ///< bytes of the files whose size does not depend on records: profiles and
                       ///< states of logs. Of the budget, too
  uint64_t disk_full;  ///< windows of the whole part that could not be written, so that it ended
  uint64_t unused[4];
  RawBurst bursts[kRawBursts];
};

/// The begin of a file carry.<n>.
struct RawCarry {
  uint64_t window;  ///< the state is that before this window; kRawCarryChanges: it is changing
  uint64_t unused;
};
inline constexpr uint64_t kRawCarryChanges = ~uint64_t{0};

/// The unit of an extent's place in its file, in bytes.
inline constexpr size_t kRawExtentAlign = 64;
/// RawExtent::slot of definitions.
inline constexpr uint64_t kRawNoSlot = ~uint64_t{0};

/// A header, followed by `preamble` + `bytes` bytes of records, then zeros up to a multiple of
/// kRawExtentAlign.
struct RawExtent {
  uint32_t magic;
  uint32_t version;      ///< kRawVersion
  uint64_t start_ticks;  ///< RawProcess::start_ticks, with pid the name of the process's folder
  uint32_t pid;
  uint32_t log;       ///< number of the log in the process
  uint64_t slot;      ///< of the burst
  uint64_t window;    ///< number of the log's window in which the records lay
  uint64_t from;      ///< ticks
  uint64_t until;     ///< ticks
  uint32_t preamble;  ///< bytes of records that describe the state at `from`; then until == from
  uint32_t bytes;     ///< of records of the log itself
  uint64_t content;   ///< raw_sum of both
  uint64_t sum;       ///< raw_sum of all before; never 0
};
static_assert(sizeof(RawExtent) % sizeof(uint64_t) == 0);

inline uint64_t sum_of_extent(const RawExtent& extent) {
  return raw_sum(&extent, offsetof(RawExtent, sum) / sizeof(uint64_t)) | 1;
}

/// The bytes that an extent takes in its file.
constexpr uint64_t raw_extent_bytes(uint64_t content) {
  const uint64_t bytes = sizeof(RawExtent) + content;
  return (bytes + kRawExtentAlign - 1) / kRawExtentAlign * kRawExtentAlign;
}

}  // namespace culprit::trace
