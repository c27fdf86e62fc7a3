// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Runs inside the program when a window is full, over records that are still in the caches.
#include <bit>
#include <cstring>

#include "trace/raw/packed.h"
#include "trace/raw/packed_fields.h"

namespace culprit::trace {

using namespace raw_packed;

void RawModel::begin() {
  memset(slots_, 0, sizeof slots_);
  kinds_ = 0;
  time_ = 0;
}

RawModel::Slot& RawModel::slot() {
  constexpr uint32_t kMix = 0x9e3779b1;  // 2^32 divided by the golden ratio
  return slots_[kinds_ * kMix >> (32 - kBits)];
}

void RawModel::take(Slot& slot, const RawHeader& header) {
  constexpr uint32_t kThreeKinds = 0xffffff;
  slot.arg = header.arg;
  slot.flags = header.flags;
  slot.words = header.words;
  slot.kind = header.kind;
  time_ = header.time;
  kinds_ = (kinds_ << 8 | static_cast<uint32_t>(header.kind)) & kThreeKinds;
}

namespace {

/// A difference with its sign in the lowest bit, so that small ones are short either way.
uint64_t folded(uint64_t difference) {
  return difference << 1 ^ static_cast<uint64_t>(static_cast<int64_t>(difference) >> 63);
}

uint8_t* put_number(uint8_t* to, uint64_t value) {
  for (; value > 127; value >>= 7) *to++ = static_cast<uint8_t>(value | 128);
  *to++ = static_cast<uint8_t>(value);
  return to;
}

/// How many bytes a time takes: 0 to 6, or all 8.
unsigned bytes_of_time(uint64_t time) {
  const auto bytes = static_cast<unsigned>(std::bit_width(time) + 7) / 8;
  return bytes > kRawShortTime ? sizeof time : bytes;
}

uint8_t* put_words(uint8_t* to, const char* words, unsigned count, RawModel::Slot& slot,
                   uint8_t& differs) {
  const unsigned compared = count < kRawWordsCompared ? count : kRawWordsCompared;
  uint64_t now[kRawWordsCompared];
  memcpy(now, words, compared * sizeof now[0]);
  unsigned others = 0;
  for (unsigned i = 0; i < compared; ++i) others |= unsigned{now[i] != slot.compared[i]} << i;
  if (others != 0) {
    differs |= kRawDiffersWords;
    *to++ = static_cast<uint8_t>(others);
  }
  for (; others != 0; others &= others - 1) {
    const auto i = static_cast<unsigned>(std::countr_zero(others));
    to = put_number(to, folded(now[i] - slot.compared[i]));
    slot.compared[i] = now[i];
  }
  const size_t behind = (count - compared) * sizeof now[0];
  memcpy(to, words + compared * sizeof now[0], behind);
  return to + behind;
}

uint8_t* put_record(uint8_t* to, const RawHeader& header, const char* words, RawModel& model) {
  RawModel::Slot& slot = model.slot();
  uint8_t* const first = to++;
  uint8_t differs = 0;
  if (header.kind != slot.kind || header.words != slot.words) {
    differs |= kRawDiffersShape;
    *to++ = static_cast<uint8_t>(header.kind);
    *to++ = header.words;
  }
  if (header.arg != slot.arg) {
    differs |= kRawDiffersArg;
    to = put_number(to, folded(uint64_t{header.arg} - slot.arg));
  }
  if (header.flags != slot.flags) {
    differs |= kRawDiffersFlags;
    memcpy(to, &header.flags, sizeof header.flags);
    to += sizeof header.flags;
  }
  const uint64_t time = folded(header.time - model.time());
  const unsigned bytes = bytes_of_time(time);
  memcpy(to, &time, sizeof time);
  to += bytes;
  to = put_words(to, words, header.words, slot, differs);
  *first = static_cast<uint8_t>(differs | (bytes > kRawShortTime ? kRawShortTime + 1 : bytes)
                                              << kRawTimeShift);
  model.take(slot, header);
  return to;
}

}  // namespace

/// Packs as many whole records as there are, and returns how many bytes of them that is.
size_t RawPacker::pack_records(const char* records, size_t bytes, size_t& packed) {
  model_.begin();
  auto* const content = reinterpret_cast<uint8_t*>(block_ + sizeof(RawBlock));
  uint8_t* to = content;
  size_t at = 0;
  while (at + sizeof(RawHeader) <= bytes) {
    RawHeader header;
    memcpy(&header, records + at, sizeof header);
    const size_t end = at + sizeof header + size_t{header.words} * sizeof(uint64_t);
    if (end > bytes) break;
    to = put_record(to, header, records + at + sizeof header, model_);
    at = end;
  }
  packed = static_cast<size_t>(to - content);
  return at;
}

size_t RawPacker::pack(const Window& window, size_t begin) {
  const size_t left = window.bytes - begin;
  const size_t most = left < kRawBlockRecords ? left : kRawBlockRecords;
  size_t packed = 0, records = pack_records(window.records + begin, most, packed);
  if (records == 0) records = most;
  char* const content = block_ + sizeof(RawBlock);
  if (packed == 0 || packed >= records) {
    memcpy(content, window.records + begin, records);
    packed = records;
  }
  const size_t whole = raw_whole_words(packed);
  memset(content + packed, 0, whole - packed);
  const size_t end = begin + records;
  RawBlock block = {kRawBlockMagic,
                    window.window_bytes,
                    window.number,
                    static_cast<uint32_t>(begin),
                    static_cast<uint32_t>(records),
                    static_cast<uint32_t>(packed),
                    end == window.bytes ? 1u : 0u,
                    raw_sum(content, whole / sizeof(uint64_t)),
                    0};
  block.sum = sum_of_block(block, window.seed);
  memcpy(block_, &block, sizeof block);
  bytes_ = sizeof block + whole;
  return end;
}

}  // namespace culprit::trace
