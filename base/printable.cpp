// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See printable.h. UTF-8 as in RFC 3629: no overlong forms, no surrogates, nothing beyond U+10FFFF.

#include "base/printable.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>

namespace culprit {
namespace {

/// One character of UTF-8, or one byte that is none.
struct Character {
  size_t bytes = 1;
  uint32_t code = 0;
  bool valid = false;
};

Character character_at(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {1, first, true};
  const size_t bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < bytes) return {};
  uint32_t code = first & (0x7fU >> bytes);
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code < kSmallest[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return {};
  return {bytes, code, true};
}

bool is_control(uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

struct Range {
  uint32_t first, last;
};

/// Characters that reverse, break or hide their neighbours (UAX #9; separators of lines and
/// paragraphs; characters without width that join nothing; tags).
bool misleads(uint32_t code) {
  constexpr Range kRanges[] = {{0x061c, 0x061c}, {0x200b, 0x200b},  {0x200e, 0x200f},
                               {0x2028, 0x202e}, {0x2060, 0x2069},  {0xfeff, 0xfeff},
                               {0xfff9, 0xfffb}, {0xe0000, 0xe007f}};
  return std::any_of(std::begin(kRanges), std::end(kRanges),
                     [&](const Range& range) { return range.first <= code && code <= range.last; });
}

void append_escape(std::string& out, unsigned char byte) {
  constexpr char kDigits[] = "0123456789abcdef";
  if (byte == '\n') {
    out += "\\n";
  } else if (byte == '\t') {
    out += "\\t";
  } else {
    out += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
  }
}

}  // namespace

std::string printable(std::string_view text, std::string_view kept) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character next = character_at(text);
    const std::string_view bytes = text.substr(0, next.bytes);
    const bool is_kept = next.bytes == 1 && kept.find(text.front()) != std::string_view::npos;
    if (is_kept || (next.valid && !is_control(next.code) && !misleads(next.code))) {
      out += bytes;
    } else {
      for (const char byte : bytes) append_escape(out, static_cast<unsigned char>(byte));
    }
    text.remove_prefix(next.bytes);
  }
  return out;
}

std::string printable_json(std::string_view json) {
  std::string out;
  out.reserve(json.size());
  const auto append_unit = [&](uint32_t unit) {
    char text[8];
    std::snprintf(text, sizeof text, "\\u%04x", unit);
    out += text;
  };
  while (!json.empty()) {
    const Character next = character_at(json);
    const bool harmless = next.code == '\n' || (!is_control(next.code) && !misleads(next.code));
    if (!next.valid || harmless) {
      out += json.substr(0, next.bytes);
    } else if (next.code < 0x10000) {
      append_unit(next.code);
    } else {
      append_unit(0xd800 + ((next.code - 0x10000) >> 10));
      append_unit(0xdc00 + ((next.code - 0x10000) & 0x3ff));
    }
    json.remove_prefix(next.bytes);
  }
  return out;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const Character next = character_at(text);
    if (!next.valid) return false;
    text.remove_prefix(next.bytes);
  }
  return true;
}

std::string valid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Character next = character_at(text);
    if (next.valid) {
      out += text.substr(0, next.bytes);
    } else {
      append_escape(out, static_cast<unsigned char>(text.front()));
    }
    text.remove_prefix(next.bytes);
  }
  return out;
}

}  // namespace culprit
