// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The wire format of protocol buffers, as far as it is written here: numbers, texts, and messages
// within messages. A library for this would want a generated class for each of some ten fields.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace culprit::report {

class ProtoMessage {
 public:
  void number(uint32_t field, uint64_t value) {
    key(field, 0);
    varint(value);
  }
  void fixed64(uint32_t field, uint64_t value) {
    key(field, 1);
    for (int i = 0; i < 8; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xff);
  }
  void text(uint32_t field, std::string_view value) {
    key(field, 2);
    varint(value.size());
    bytes_ += value;
  }
  void message(uint32_t field, const ProtoMessage& value) { text(field, value.bytes_); }

  const std::string& bytes() const { return bytes_; }

 private:
  void key(uint32_t field, uint32_t type) { varint(uint64_t{field} << 3 | type); }
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7f) | 0x80);
    bytes_ += static_cast<char>(value);
  }
  std::string bytes_;
};

}  // namespace culprit::report
