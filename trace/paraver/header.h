// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The first line of a Paraver trace: how long it lasts, which nodes it used, and which applications
// ran on them, each with its tasks (processes) and their threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace culprit::trace {

struct ParaverTask {
  uint64_t threads = 0;
  uint64_t node = 0;  ///< counted from 1; 0: unknown
};

struct ParaverHeader {
  bool nanoseconds = false;  ///< else times are microseconds
  std::vector<std::vector<ParaverTask>> applications;
};

inline constexpr std::string_view kParaverMark = "#Paraver";

/// None if the line is no such header.
std::optional<ParaverHeader> parse_paraver_header(std::string_view line);

/// A whole number at the beginning of `text`, which is moved behind it; none: there is none, or it
/// is too large.
std::optional<int64_t> take_number(std::string_view& text);

}  // namespace culprit::trace
