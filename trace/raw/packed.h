// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How the full windows of a log lie in events.<n>.packed (trace/raw/raw.h): one behind the other,
// each as a few blocks of up to kRawBlockRecords bytes of whole records. A block can be unpacked
// without any other, and has checksums of its own: damage costs what one of them has.
//
// A record is described by what differs from the last one that came behind the same three kinds,
// since programs repeat themselves:
//   a byte     bits kRawDiffers..., and from kRawTimeShift on how many bytes the time takes
//   kind, words            if either differs
//   arg                    if it differs: the difference
//   flags                  if they differ: 2 bytes
//   time                   minus that of the record before
//   a byte     which of the first kRawWordsCompared words differ, if any does
//   those words            the difference of each
//   the words behind       as they are
// Differences are numbers of 7 bits a byte, the lowest first, and bit 7 where more follow; the sign
// is the lowest bit. The time is whole bytes. In front of a block's first record all is 0.
//
// A window counts as packed once its last block is there; until then its records are in the tail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "trace/raw/raw.h"
#include "trace/raw/seal.h"

namespace culprit::trace {

inline constexpr uint32_t kRawBlockMagic = 0x4b4c4243;  // "CBLK"
inline constexpr const char* kRawPackedSuffix = ".packed";
/// Bytes of records that a block has at most.
inline constexpr size_t kRawBlockRecords = size_t{64} << 10;

/// Begins a block. Its content follows, and zeros up to a whole word.
struct RawBlock {
  uint32_t magic;
  uint32_t window_bytes;  ///< of a whole window of this log
  uint64_t window;        ///< number of the window in the log
  uint32_t begin;         ///< where its records begin in the window, in bytes
  uint32_t records;       ///< bytes of them
  uint32_t packed;        ///< bytes of the content; as many as `records`: these, as they are
  uint32_t is_last;       ///< 1: no other block of this window follows
  uint64_t content;       ///< raw_sum of the content and its zeros
  uint64_t sum;           ///< raw_sum of all before, and raw_block_seed; never 0
};
static_assert(sizeof(RawBlock) % sizeof(uint64_t) == 0);

/// Tells logs apart. The window is part of the block: if it were part of the seed, too, damage to
/// it could cancel itself out.
constexpr uint64_t raw_block_seed(uint64_t start_ticks, uint32_t log) {
  return raw_seed(start_ticks, log, 0);
}

inline uint64_t sum_of_block(const RawBlock& block, uint64_t seed) {
  return (raw_sum(&block, offsetof(RawBlock, sum) / sizeof(uint64_t)) + seed) | 1;
}

constexpr size_t raw_whole_words(size_t bytes) {
  return (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
}

inline constexpr unsigned kRawWordsCompared = 6;

/// What is remembered of the records before: the last one behind each three kinds.
class RawModel {
 public:
  struct Slot {
    uint32_t arg;
    uint16_t flags;
    uint8_t words;
    RawKind kind;
    uint64_t compared[kRawWordsCompared];
  };

  void begin();
  /// Of the record that comes next.
  Slot& slot();
  /// That record was `header`.
  void take(Slot& slot, const RawHeader& header);
  uint64_t time() const { return time_; }

 private:
  static constexpr unsigned kBits = 10;  // with 256 slots, tasks took 13 % more room
  Slot slots_[1u << kBits];
  uint32_t kinds_;  ///< the last three, a byte each
  uint64_t time_;   ///< of the record before
};

/// Makes blocks, in memory of its own that is not touched before. Async-signal-safe.
class RawPacker {
 public:
  /// The first `bytes` of a window, to be packed.
  struct Window {
    const char* records;
    size_t bytes;
    uint32_t window_bytes;
    uint64_t number;
    uint64_t seed;
  };
  /// Makes a block of the records from `begin` on, and returns where the next one is to begin. What
  /// is no whole record is taken, too.
  size_t pack(const Window& window, size_t begin);
  std::span<const char> block() const { return {block_, bytes_}; }

 private:
  /// Of any records: a word of 8 bytes may take 10.
  static constexpr size_t kMostContent = kRawBlockRecords / 4 * 5 + 4096;

  size_t pack_records(const char* records, size_t bytes, size_t& packed);

  size_t bytes_;
  RawModel model_;
  alignas(uint64_t) char block_[sizeof(RawBlock) + kMostContent];
};

/// Bytes behind a block's content that raw_unpack() may read, but does not use.
inline constexpr size_t kRawUnpackSlack = size_t{4} << 10;

/// Unpacks the content of a block into `to`, of as many bytes as its records have. False if it is
/// not the content of such a block: then `to` has anything.
bool raw_unpack(RawModel& model, std::span<const char> content, std::span<char> to);

}  // namespace culprit::trace
