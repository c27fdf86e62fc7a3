// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "predict/periods/found.h"

namespace culprit::predict {
namespace {

blame::FoundPeriod row_of(const Series& series, const Period& period) {
  blame::FoundPeriod row;
  row.series = series.kind;
  row.part = series.part;
  row.source = series.source;
  row.step_s = series.step_s;
  row.verdict = period.verdict;
  row.confidence = period.confidence;
  row.chance = period.chance;
  row.begin_s = series.begin_s;
  row.end_s = series.end_s();
  return row;
}

}  // namespace

std::vector<blame::FoundPeriod> found_periods(const Series& series, const Period& period,
                                              double now_s) {
  if (!period.found()) return {row_of(series, period)};
  std::vector<blame::FoundPeriod> rows;
  for (const Stretch& stretch : period.stretches) {
    blame::FoundPeriod& row = rows.emplace_back(row_of(series, period));
    const Regularity& regularity = stretch.regularity;
    row.period_s = regularity.period;
    row.deviation_s = regularity.deviation;
    row.phases = regularity.distances + 1;
    row.missed = regularity.missed;
    row.interruptions = regularity.interruptions;
    row.phase_s = period.phase_s;
    row.begin_s = stretch.begin_s;
    row.end_s = stretch.end_s;
  }
  const Next next = predict_next(series, period, now_s);
  rows.back().next_s = next.begin_s;
  rows.back().next_early_s = next.early_s;
  rows.back().next_late_s = next.late_s;
  return rows;
}

}  // namespace culprit::predict
