// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "report/verdict/verdict_data.h"

#include <algorithm>
#include <cstddef>

#include "blame/judge/diagnose.h"

namespace culprit::report {
namespace {

constexpr double kMuchMoreOfMpi = 3;  ///< times

}  // namespace

std::string_view to_string(VerdictKind kind) {
  constexpr std::string_view kNames[] = {
      "nothing",     "failed",   "stuck",  "disturbed",  "oversubscribed",
      "unexplained", "start_up", "rival",  "other_time", "hardly_any_waiting",
      "cause",       "spread",   "unknown"};
  return kNames[static_cast<size_t>(kind)];
}

double largest_cause(const Verdict& verdict, const blame::Findings& findings) {
  blame::Amount<blame::OwnWaiting> largest;
  for (const blame::Cause& cause : verdict.causes) largest = std::max(largest, cause.cost());
  if (verdict.causes.empty()) return 0;
  return blame::Proportion::of(largest, blame::own_allocation(findings)).value();
}

bool unexplained_comes_first(const Verdict& verdict, const blame::Findings& findings) {
  if (!verdict.audit.comes_first(largest_cause(verdict, findings))) return false;
  if (verdict.audit.spins) return true;
  const double whole_s = blame::own_allocation(findings).seconds();
  const double unexplained_s = verdict.audit.unexplained.value() * whole_s;
  return std::none_of(verdict.lost.begin(), verdict.lost.end(), [&](const TileTotal& total) {
    return total.tile == blame::Tile::mpi && total.time_s >= kMuchMoreOfMpi * unexplained_s;
  });
}

}  // namespace culprit::report
