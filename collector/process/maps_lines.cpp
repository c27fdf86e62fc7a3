// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The kernel writes these lines, so they are parsed without much suspicion.
#include "collector/process/maps_lines.h"

#include <cstring>

namespace culprit::collector {

namespace {

uint64_t parse(const char*& text, unsigned base) {
  uint64_t value = 0;
  for (;; ++text) {
    const char c = *text;
    const unsigned digit = c >= '0' && c <= '9'   ? static_cast<unsigned>(c - '0')
                           : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a' + 10)
                                                  : base;
    if (digit >= base) return value;
    value = value * base + digit;
  }
}

bool skip(const char*& text, char c) {
  if (*text != c) return false;
  ++text;
  return true;
}

}  // namespace

bool parse_maps_line(const char* text, MapsLine& line) {
  constexpr unsigned kHex = 16, kDecimal = 10, kMinorBits = 32;
  line.begin = parse(text, kHex);
  if (!skip(text, '-')) return false;
  line.end = parse(text, kHex);
  if (strlen(text) < 6 || !skip(text, ' ')) return false;
  line.executable = text[2] == 'x';
  line.shared = text[3] == 's';
  text += 4;
  if (!skip(text, ' ')) return false;
  line.offset = parse(text, kHex);
  if (!skip(text, ' ')) return false;
  const uint64_t major = parse(text, kHex);
  if (!skip(text, ':')) return false;
  line.device = major << kMinorBits | parse(text, kHex);
  if (!skip(text, ' ')) return false;
  line.inode = parse(text, kDecimal);
  while (*text == ' ') ++text;
  line.path = text;
  return true;
}

}  // namespace culprit::collector
