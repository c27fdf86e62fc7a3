// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Records go through a buffer, since of damaged windows only some are used. What is noted in a
// record is folded with it, and a thread's open states are no records of its log.
#include "assemble/profile/fold_log.h"

#include <cstring>
#include <span>
#include <vector>

#include "fold/thread_fold.h"

namespace culprit::assemble {

namespace {

/// Bytes that are folded at a time.
constexpr size_t kPart = size_t{1} << 18;

}  // namespace

bool is_in_log(const RawRecord& record) {
  return !record.noted && record.kind != trace::RawKind::thread_awaits &&
         record.kind != trace::RawKind::mpi_awaits;
}

void append(const RawRecord& record, std::vector<uint64_t>& to) {
  to.push_back(record.ticks);
  to.push_back(trace::raw_second_half(record.kind, record.flags, record.arg, record.words));
  to.insert(to.end(), record.w, record.w + record.words);
}

LogProfile fold_log(const RawLog& log, uint64_t start_ticks) {
  std::vector<uint64_t> memory(trace::profile_quota(log.thread()) / sizeof(uint64_t));
  fold::ThreadFold fold =
      fold::ThreadFold::begin(std::as_writable_bytes(std::span(memory)), log.thread(), start_ticks);
  std::vector<uint64_t> part;
  uint64_t number = 0;
  const auto flush = [&] {
    const std::span<const std::byte> bytes = std::as_bytes(std::span(part));
    fold.fold(number++, bytes, bytes.size());
    part.clear();
  };
  auto cursor = log.cursor();
  for (RawRecord record; cursor.next(record);) {
    if (is_in_log(record)) append(record, part);
    if (part.size() * sizeof(uint64_t) >= kPart) flush();
  }
  flush();
  LogProfile profile;
  profile.head = fold.log();
  const trace::ProfileRow* const rows = trace::rows_of(fold.log());
  profile.rows.assign(rows, rows + profile.head.row_count);
  if (profile.rows.empty()) profile.rows.emplace_back();
  check_rows(profile);  // damaged records may say anything
  return profile;
}

}  // namespace culprit::assemble
