// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What culprit itself says: one line each on stderr, so that stdout belongs to the program and to
// reports.
#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>

#include "base/result.h"

namespace culprit::cli {

/// Exit statuses: 0, what the measured program returned, or one of these.
inline constexpr int kFailure = 1;
inline constexpr int kUsage = 2;
inline constexpr int kDamaged = 3;          ///< there are findings, but of a damaged trace
inline constexpr int kContradiction = 4;    ///< there are findings, but their sums do not agree
inline constexpr int kCannotExecute = 126;  ///< as a shell has it
inline constexpr int kNotFound = 127;

template <class... Args>
void say(fmt::format_string<Args...> format, Args&&... args) {
  const std::string line = "culprit: " + fmt::format(format, std::forward<Args>(args)...) + "\n";
  std::fputs(line.c_str(), stderr);
}

/// Tells an error and returns the exit status that goes with it.
inline int fail(const Error& error) {
  say("{}", error.sentence);
  return kFailure;
}

}  // namespace culprit::cli
