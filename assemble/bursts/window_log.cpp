// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Times stay as they were recorded: what began before the window is moved to its begin only when it
// is played (ProcessContext::time), since the order in which requests were posted matters.
#include "assemble/bursts/window_log.h"

#include <memory>
#include <utility>

#include "fold/carry.h"
#include "fold/preamble.h"

namespace culprit::assemble {

using trace::RawGroup;
using trace::RawKind;

std::vector<uint64_t> preamble_of(const fold::Carry& state, uint64_t ticks) {
  std::vector<uint64_t> all, buffer(4096);
  fold::Preamble preamble(state, ticks);
  while (const size_t bytes = preamble.next(buffer.data(), buffer.size() * sizeof(uint64_t))) {
    const auto words = static_cast<ptrdiff_t>(bytes / sizeof(uint64_t));
    all.insert(all.end(), buffer.begin(), buffer.begin() + words);
  }
  return all;
}

void cut(const RawLog& log, const TickSpan& span, WindowLog& window) {
  const auto state = std::make_unique<fold::Carry>();
  std::vector<uint64_t> record_words;
  bool begun = false;
  window.records.clear();
  auto cursor = log.cursor();
  for (RawRecord record; cursor.next(record);) {
    if (record.noted) continue;
    begun = begun || record.ticks >= span.begin;
    if (begun && record.ticks >= span.end) continue;
    record_words.clear();
    append_record(record, begun ? window.records : record_words);
    if (!begun) fold::carry(*state, record_words.data(), record_words.size() * sizeof(uint64_t));
  }
  window.preamble = preamble_of(*state, span.begin);
}

void append_record(const RawRecord& record, std::vector<uint64_t>& words) {
  words.push_back(record.ticks);
  words.push_back(trace::raw_second_half(record.kind, record.flags, record.arg, record.words));
  words.insert(words.end(), record.w, record.w + record.words);
}

bool holds_in_windows(RawKind kind) {
  switch (kind) {
    case RawKind::thread_begun:
    case RawKind::thread_ended:
    case RawKind::process_end:
      return false;
    default:
      return trace::is_definition(kind);
  }
}

RawLog make_log(WindowLog&& log, const TickSpan& span) {
  std::vector<uint64_t> all = std::move(log.definitions);
  all.insert(all.end(), log.preamble.begin(), log.preamble.end());
  all.insert(all.end(), log.records.begin(), log.records.end());
  RawLog made = RawLog::of(log.thread, std::move(all));
  made.team_number = log.team_number;
  made.end_at(span.end);
  return made;
}

trace::RawProcess process_in(const trace::RawProcess& process, const TickSpan& span) {
  trace::RawProcess part = process;
  part.start_ticks = span.begin;
  part.end_ticks = span.end;
  part.ended = part.finalized = 1;
  part.stopped_at_limit = 0;
  // Its losses are the whole run's.
  part.dropped_records = part.skipped_callbacks = part.failed_unwinds = part.forgotten_paths = 0;
  part.failed_counters = part.slowed_samplers = part.refused_probes = 0;
  part.nvtx_ranges = part.nvtx_marks = part.samples_begun = part.written_behind = 0;
  part.unwind_ticks = part.search_ticks = 0;
  const uint64_t ticks = process.last.ticks - process.first.ticks;
  const double ns_per_tick =
      ticks > 0 ? static_cast<double>(process.last.monotonic_ns - process.first.monotonic_ns) /
                      static_cast<double>(ticks)
                : 1;
  for (const auto& [pair, at] : {std::pair{&part.first, span.begin}, {&part.last, span.end}}) {
    const auto ns = static_cast<int64_t>(
        static_cast<double>(static_cast<int64_t>(at - process.first.ticks)) * ns_per_tick);
    *pair = {at, process.first.realtime_ns + static_cast<uint64_t>(ns),
             process.first.monotonic_ns + static_cast<uint64_t>(ns)};
  }
  return part;
}

void add_window_log(WindowLog&& log, const TickSpan& span, RawProcessFolder& folder) {
  auto& logs = log.first_group == RawGroup::device_log  ? folder.device_logs
               : log.first_group == RawGroup::watch_log ? folder.watch_logs
                                                        : folder.logs;
  logs.push_back(make_log(std::move(log), span));
}

}  // namespace culprit::assemble
