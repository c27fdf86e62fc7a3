// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "cut.h"

#include <utility>

namespace culprit::assemble::test {
namespace {

void cut_log(const RawLog& log, const TickSpan& span, RawProcessFolder& folder) {
  WindowLog part;
  part.thread = log.thread();
  bool begun = false, known = false;
  auto cursor = log.cursor();
  for (RawRecord record; cursor.next(record);) {
    if (record.noted) continue;
    const trace::RawGroup group = trace::facts_of(record.kind).group;
    if (part.first_group == trace::RawGroup::unknown) part.first_group = group;
    if (record.kind == trace::RawKind::omp_implicit_begin && !known) {
      const auto joined = record.as<raw::omp_implicit_begin>();
      known = joined.team_size > 1;
      if (known) part.team_number = joined.index;
    }
    begun = begun || record.ticks >= span.begin;
    if (!begun && holds_in_windows(record.kind)) append_record(record, part.definitions);
  }
  cut(log, span, part);
  add_window_log(std::move(part), span, folder);
}

}  // namespace

WindowRecords cut_window(const std::vector<RawProcessFolder>& run, uint64_t number,
                         const TickSpan& span) {
  WindowRecords window;
  window.number = number;
  window.run = run;
  for (const RawProcessFolder& folder : run) {
    RawProcessFolder& part = window.folders.emplace_back();
    part.folder = folder.folder;
    part.maps = folder.maps;
    part.process = process_in(folder.process, span);
    for (const RawLog& log : folder.logs) cut_log(log, span, part);
    for (const RawLog& log : folder.device_logs) cut_log(log, span, part);
    for (const RawLog& log : folder.watch_logs) cut_log(log, span, part);
    window.known.push_back(true);
  }
  return window;
}

}  // namespace culprit::assemble::test
