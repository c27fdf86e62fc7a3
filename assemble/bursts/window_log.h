// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A log's part in a window: the definitions that its records need, the state at the window's begin,
// and its records, as one log.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "assemble/raw/reader.h"
#include "fold/carry_state.h"

namespace culprit::assemble {

/// Where a window lies in one process's ticks.
struct TickSpan {
  uint64_t begin = 0, end = 0;
};

struct WindowLog {
  uint32_t thread = 0;
  trace::RawGroup first_group = trace::RawGroup::unknown;  ///< of the log's first record
  std::optional<uint32_t> team_number;                     ///< in the thread's first team
  std::vector<uint64_t> definitions;  ///< records of before the window, of kinds that define
  std::vector<uint64_t> preamble;     ///< the state at the window's begin
  std::vector<uint64_t> records;      ///< of the window
};

/// What a preamble says of this state.
std::vector<uint64_t> preamble_of(const fold::Carry& state, uint64_t ticks);

/// Cuts the window out of a log that has all records: fills in the state at its begin, and its
/// records. As the collector, from the first record on that is not before the window.
void cut(const RawLog& log, const TickSpan& span, WindowLog& window);

/// Appends a record in the form of a file.
void append_record(const RawRecord& record, std::vector<uint64_t>& words);

/// Whether readers of a window need the record although it was made before: that a thread began or
/// ended is a part of the state.
bool holds_in_windows(trace::RawKind kind);

RawLog make_log(WindowLog&& log, const TickSpan& span);

/// A process that begins and ends with a window.
trace::RawProcess process_in(const trace::RawProcess& process, const TickSpan& span);

/// Puts a log where logs of its kind belong.
void add_window_log(WindowLog&& log, const TickSpan& span, RawProcessFolder& folder);

}  // namespace culprit::assemble
