// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "fold/potential/early.h"

#include <algorithm>
#include <cstdint>

namespace culprit::fold {

namespace {

double work_of(const trace::ProfileRow& row) {
  const bool works = row.kind == trace::ProfileKind::stretch &&
                     static_cast<trace::ProfileState>(row.detail) == trace::ProfileState::work;
  return works ? static_cast<double>(row.ticks) : 0;
}

}  // namespace

void share_early(std::span<const trace::ProfileRow> rows, Wide amount, Ledger& ledger) {
  double worked = 0, given = 0;
  for (const trace::ProfileRow& row : rows) worked += work_of(row);
  if (worked == 0) return ledger.add(0, amount);
  Wide left = amount;
  for (uint32_t i = 0; i < rows.size(); ++i) {
    const double part = work_of(rows[i]);
    if (part == 0) continue;
    given += part;
    const bool last = given >= worked;
    const Wide own =
        last ? left
             : std::min(left, static_cast<Wide>(static_cast<double>(amount) * (part / worked)));
    ledger.add(i, own);
    left -= own;
  }
}

}  // namespace culprit::fold
