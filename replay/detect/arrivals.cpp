// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "replay/detect/arrivals.h"

#include <algorithm>

namespace culprit::replay {

void add_arrival(ArrivalTally& row, const Arrival& member, Time last, bool is_last, Time before) {
  ++row.operations;
  row.skew += last - member.enter;
  row.transfer += std::max(member.leave - last, Duration::zero());
  if (!is_last) return;
  ++row.last;
  row.late += last - before;
}

void Arrivals::add(const Run& run, std::span<const Part> parts, size_t last) {
  const CommId comm = parts[0].op->comm;
  if (parts.size() < 2 || run.is_window(comm)) return;
  const CallPathId path = parts[0].posted.path;
  const Key key(comm, path.valid() ? run.callpaths[path].region : RegionId::none());
  if (last_rows_ == nullptr || key != last_key_) last_rows_ = &tallies_[last_key_ = key];
  std::vector<ArrivalTally>& rows = *last_rows_;
  if (rows.size() < parts.size()) rows.resize(parts.size());
  const Time latest = parts[last].posted.enter;
  Time before = Time::min();
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i != last) before = std::max(before, parts[i].posted.enter);
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    ArrivalTally& row = rows[i];
    // Any thread of a process may take its part.
    if (row.operations == 0) {
      row.comm = comm;
      row.operation = key.second;
      row.location = run.master_of(parts[i].location);
    }
    // Where nobody waited, nobody was late.
    const bool is_last = i == last && before < latest;
    add_arrival(row, {row.location, parts[i].posted.enter, parts[i].completed.leave}, latest,
                is_last, before);
  }
}

std::vector<ArrivalTally> Arrivals::take() {
  std::vector<ArrivalTally> all;
  for (const auto& [key, rows] : tallies_) {
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(all),
                 [](const ArrivalTally& row) { return row.operations > 0; });
  }
  return all;
}

}  // namespace culprit::replay
