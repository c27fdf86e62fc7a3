// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What the fold of a log remembers between records, as plain data behind the log's rows
// (trace/raw/profile.h), and where it lies. Zeroed memory is the state before the first record.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "fold/rows.h"

namespace culprit::fold {

/// A call or construct that has begun and not ended.
struct OpenEvent {
  uint64_t begin;   ///< ticks
  uint64_t waited;  ///< ticks spent directly inside it, and waiting
  uint64_t object;  ///< by which its end finds it: region, task, name, kind
  uint32_t row;
  uint32_t frame;  ///< of a function: the low half of its frame's address
  ProfileKind kind;
  ProfileState state;  ///< of the time directly inside it
  bool cut;            ///< its row is that of the event around it
};

/// Samples of the stretch at hand that found the thread at the same place.
struct PendingSamples {
  uint32_t row;  ///< of the frame
  uint32_t weight;
};

/// What the kernel did in the stretch at hand, by the sample that found it.
struct PendingKernel {
  uint32_t frame;  ///< its row; 0: where the stretch lies
  uint16_t place;  ///< RawKernelPlace
  uint16_t unused;
  uint64_t ns;
  uint64_t faults;
};

/// A mutex that the thread has.
struct HeldMutex {
  uint64_t mutex;
  uint64_t begin;   ///< ticks: it was wanted
  uint64_t waited;  ///< ticks until it was acquired
  uint32_t row;     ///< 0: this place is free
};

/// A mutex that the thread wants: the record says so, and the next one whether it got it.
struct WantedMutex {
  uint64_t mutex;
  uint64_t time;
  uint64_t code;
  uint16_t kind;
  bool is_wanted;
  bool is_open;  ///< the wait is the innermost of the open events
};

/// The row that followed an edge last.
struct NextStretch {
  uint32_t edge;  ///< at its end
  uint32_t row;   ///< 0: none yet
};

/// A call path, by its number in the log.
struct PathSlot {
  uint32_t path;
  uint32_t frame;  ///< its row
  uint32_t event;  ///< the row of the last event there; 0: none yet
};

inline constexpr unsigned kMostOpenEvents = 64;
inline constexpr unsigned kMostPendingSamples = 64;
inline constexpr unsigned kMostPendingKernels = 16;
inline constexpr unsigned kMostHeldMutexes = 16;
inline constexpr unsigned kMostCounters = 16;
inline constexpr unsigned kRecentEvents = 256;

struct FoldState {
  uint64_t window;  ///< that came last
  uint64_t bytes;   ///< of it that are folded
  uint32_t notes;   ///< of the record there: moments noted in it that are folded, and the record
  uint32_t depth;   ///< of `open`
  uint32_t deeper;  ///< events that began where `open` was full
  uint32_t edge;    ///< at which the stretch at hand began
  uint32_t pending_count;
  ProfileState outside;  ///< of the time in no event
  bool is_off;           ///< recording is
  bool is_of_thread;     ///< false: nothing that can be profiled was seen yet
  bool wants_join;       ///< a row found no room
  bool has_reading;      ///< counters were read for the next event
  uint64_t join_from;    ///< records after which rows may be joined again
  uint64_t tool_begin;   ///< ticks; 0: the collector is not at work
  uint64_t tool_ticks;   ///< of the stretch at hand that were the collector's
  uint64_t weight;       ///< of the stretch's samples
  uint64_t bucket;       ///< of the time series in which the stretch at hand began
  uint64_t bucket_end;   ///< ticks: where that bucket ends
  uint64_t heights;      ///< a bit for each counter that has heights
  uint32_t counters;     ///< that were read last
  uint32_t sampled;      ///< the row of the frame at which the last sample found the thread
  uint32_t kernel_count;
  uint32_t unused;
  uint64_t reading[kMostCounters];       ///< values of now
  uint64_t last_reading[kMostCounters];  ///< when the stretch began
  WantedMutex wanted;
  OpenEvent open[kMostOpenEvents];
  PendingSamples pending[kMostPendingSamples];
  PendingKernel kernel[kMostPendingKernels];
  HeldMutex held[kMostHeldMutexes];
  uint32_t recent[kRecentEvents];  ///< rows of constructs met last, by hash
};

/// Where the parts of a region lie, which follows from its size alone.
struct RegionLayout {
  uint32_t rows = 0;
  uint32_t index_slots = 0;
  uint32_t path_slots = 0;
  size_t state_at = 0, rows_at = 0, index_at = 0, next_at = 0, paths_at = 0;

  explicit constexpr RegionLayout(size_t bytes) {
    constexpr size_t kLine = 64, kBytesPerSlot = 64;
    state_at = up(sizeof(ProfileLog), kLine);
    rows_at = up(state_at + sizeof(FoldState), kLine);
    index_slots = static_cast<uint32_t>(std::bit_floor(bytes / kBytesPerSlot));
    const size_t left = bytes - rows_at - index_slots * sizeof(uint32_t) - 3 * kLine;
    constexpr size_t kPerRow = sizeof(ProfileRow) + 2 * sizeof(NextStretch) + sizeof(PathSlot);
    rows = static_cast<uint32_t>(std::min<size_t>(left / kPerRow, index_slots / 4 * 3));
    path_slots = rows;
    index_at = rows_at + rows * sizeof(ProfileRow);
    next_at = up(index_at + index_slots * sizeof(uint32_t), kLine);
    paths_at = next_at + 2 * size_t{rows} * sizeof(NextStretch);
  }

 private:
  static constexpr size_t up(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }
};

/// Frames of call paths leave a quarter of the rows to others.
constexpr uint32_t most_frames(uint32_t capacity) {
  return capacity / 4 * 3;
}

}  // namespace culprit::fold
