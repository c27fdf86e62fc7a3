// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Unpacks numbers as OTF2 stores them. Nothing is checked number by number: whoever reads makes
// sure that kSlack bytes behind the end may be read, asks ok() after at most kMostFields numbers,
// and then uses none of them if they went beyond the end.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace culprit::trace::plain {

/// A number takes up to nine bytes, and the one after the last is still touched.
inline constexpr size_t kMostFields = 12;
inline constexpr size_t kSlack = 9 * (kMostFields + 1);

/// `kSwapped`: the file's byte order is not this machine's.
template <bool kSwapped>
class Cursor {
 public:
  Cursor(const uint8_t* at, const uint8_t* end) : at_(at), end_(end) {}

  /// Nothing was read from beyond the end, and no number had an impossible length.
  bool ok() const { return at_ <= end_ && !impossible_; }
  /// While ok().
  uint64_t left() const { return static_cast<uint64_t>(end_ - at_); }
  bool at_end() const { return at_ == end_; }
  const uint8_t* place() const { return at_; }
  void go_to(const uint8_t* place) { at_ = place; }

  uint8_t next_byte() const { return *at_; }
  uint8_t byte() { return *at_++; }
  template <class Number>
  Number raw() {
    Number value = load<Number>(at_);
    at_ += sizeof value;
    return value;
  }
  /// A byte of length and as many bytes; a length of 255: all bits are set.
  uint64_t packed64() { return packed<uint64_t>(); }
  uint32_t packed32() { return packed<uint32_t>(); }

  /// Reads a record's length. Where the record ends; nullptr if that is beyond the end.
  [[gnu::always_inline]] const uint8_t* end_of_record() {
    const uint8_t small = byte();
    const uint64_t length = small == kLong ? raw<uint64_t>() : small;
    return ok() && length <= left() ? at_ + length : nullptr;
  }

 private:
  static constexpr uint8_t kLong = 0xff;
  static constexpr uint8_t kAllBits = 0xff;

  template <class Number>
  static Number load(const uint8_t* from) {
    Number value;
    std::memcpy(&value, from, sizeof value);
    if constexpr (kSwapped && sizeof value == 8) value = __builtin_bswap64(value);
    if constexpr (kSwapped && sizeof value == 4) value = __builtin_bswap32(value);
    if constexpr (kSwapped && sizeof value == 2) value = __builtin_bswap16(value);
    return value;
  }
  template <class Number>
  [[gnu::always_inline]] Number packed() {
    const uint8_t size = *at_++;
    if (size > sizeof(Number)) [[unlikely]] {
      if (size != kAllBits) impossible_ = true;
      return static_cast<Number>(-1);
    }
    // As many as there are at most, without those that belong to the next number.
    const uint64_t eight = load<uint64_t>(at_);
    at_ += size;
    constexpr bool kBig = kSwapped != (std::endian::native == std::endian::big);
    if constexpr (kBig) return size == 0 ? 0 : static_cast<Number>(eight >> (64 - 8 * size));
    return static_cast<Number>(eight & kMasks[size]);
  }

  static constexpr std::array<uint64_t, 9> kMasks = {0,
                                                     0xff,
                                                     0xffff,
                                                     0xffffff,
                                                     0xffffffff,
                                                     0xffffffff'ff,
                                                     0xffffffff'ffff,
                                                     0xffffffff'ffffff,
                                                     0xffffffff'ffffffff};

  const uint8_t* at_;
  const uint8_t* end_;
  bool impossible_ = false;
};

/// How chunks, the parts that files of events and of definitions are made of, begin and end.
inline constexpr uint8_t kEndOfChunk = 0;
inline constexpr uint8_t kEndOfFile = 2;
inline constexpr uint8_t kChunkHeader = 3;
inline constexpr uint8_t kLittleEndian = 0x42;
inline constexpr uint8_t kBigEndian = 0x23;
/// Its mark, the byte order, and the numbers of its first and last record.
inline constexpr size_t kHeaderBytes = 18;

enum class ByteOrder { native, swapped, unknown };
/// `unknown`: the bytes, at least kHeaderBytes of them, do not begin a chunk.
inline ByteOrder byte_order_of(const uint8_t* chunk) {
  if (chunk[0] != kChunkHeader || (chunk[1] != kLittleEndian && chunk[1] != kBigEndian)) {
    return ByteOrder::unknown;
  }
  const bool little = chunk[1] == kLittleEndian;
  return little == (std::endian::native == std::endian::little) ? ByteOrder::native
                                                                : ByteOrder::swapped;
}

}  // namespace culprit::trace::plain
