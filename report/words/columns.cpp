// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "report/words/columns.h"

#include <algorithm>

namespace culprit::report {
namespace {

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xc0) == 0x80;
}

}  // namespace

size_t columns(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues(c); }));
}

std::string_view first_columns(std::string_view text, size_t count) {
  size_t end = 0;
  for (; end < text.size(); ++end) {
    if (!continues(text[end]) && count-- == 0) break;
  }
  return text.substr(0, end);
}

std::string_view last_columns(std::string_view text, size_t count) {
  const size_t all = columns(text);
  if (count >= all) return text;
  return text.substr(first_columns(text, all - count).size());
}

}  // namespace culprit::report
