// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The list of formats: see formats.h.

#include "report/formats.h"

namespace culprit::report {
namespace {

constexpr Format kFormats[] = {
    {"text", "one screen for people", true, screen},
    {"json", "one object for programs, nothing shortened; profile and course are in findings.db",
     false, json},
};

}  // namespace

std::span<const Format> formats() {
  return kFormats;
}

const Format* find_format(std::string_view name) {
  for (const Format& format : kFormats) {
    if (format.name == name) return &format;
  }
  return nullptr;
}

const Format& page_format(bool full) {
  static constexpr Format kFull = {"text", "the whole page for people", true, text};
  return full ? kFull : kFormats[0];
}

}  // namespace culprit::report
