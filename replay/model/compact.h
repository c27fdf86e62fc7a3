// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A compact code for records that are sent to other analysis ranks by the hundred million: each
// field is stored as its difference from a field that is usually near, in seven bits per byte
// (zigzag and LEB128). Writer and reader are called alike, so that one function says what a record
// consists of:
//
//   template <class Code> void code_thing(Code& code, Thing& thing, const Thing& before) {
//     code(thing.begin, before.begin);
//     code(thing.end, thing.begin);
//   }
//
// The reader does not validate the bytes: ranks trust each other.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "base/ranks/transport.h"
#include "base/result.h"
#include "replay/model/calls.h"

namespace culprit::replay {

/// The fields of plain types, as numbers that wrap around.
template <class T>
struct CompactField {
  static_assert(sizeof(T) == 1 || sizeof(T) == 4 || sizeof(T) == 8);
  using Number = std::conditional_t<sizeof(T) == 1, uint8_t,
                                    std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>;
  using Signed = std::make_signed_t<Number>;

  static uint64_t distance(const T& value, const T& from) {
    const Number difference =
        static_cast<Number>(std::bit_cast<Number>(value) - std::bit_cast<Number>(from));
    const int64_t wide = static_cast<Signed>(difference);
    return static_cast<uint64_t>(wide) << 1 ^ static_cast<uint64_t>(wide >> 63);
  }
  static T at_distance(uint64_t distance, const T& from) {
    const uint64_t wide = distance >> 1 ^ (~(distance & 1) + 1);
    return std::bit_cast<T>(static_cast<Number>(std::bit_cast<Number>(from) + wide));
  }
};

class CompactWriter {
 public:
  template <class T>
  void operator()(const T& value, const T& near) {
    uint64_t rest = CompactField<T>::distance(value, near);
    for (; rest >= 0x80; rest >>= 7) bytes_.push_back(static_cast<std::byte>(rest | 0x80));
    bytes_.push_back(static_cast<std::byte>(rest));
  }
  std::span<const std::byte> bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  Parcel bytes_;
};

class CompactReader {
 public:
  explicit CompactReader(std::span<const std::byte> bytes) : rest_(bytes) {}
  template <class T>
  void operator()(T& value, const T& near) {
    uint64_t distance = 0;
    for (unsigned shift = 0;; shift += 7) {
      CULPRIT_CHECK(!rest_.empty() && shift < 64);
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_ = rest_.subspan(1);
      distance |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) break;
    }
    value = CompactField<T>::at_distance(distance, near);
  }
  bool done() const { return rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
};

/// A call that is mostly the same as another, or comes soon after it.
template <class Code>
void code_call(Code& code, Call& call, const Call& near) {
  code(call.enter, near.enter);
  code(call.leave, near.leave);
  code(call.path, near.path);
}

}  // namespace culprit::replay
