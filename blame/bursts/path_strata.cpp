// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "blame/bursts/path_strata.h"

#include <utility>
#include <vector>

namespace culprit::blame {

PathStrata::PathStrata(const CommonRun& run, Measure measure) : strata_({}, 0, 0) {
  const size_t windows = run.sample().size();
  std::vector<Stratum> all(1 + run.callpaths.size());
  for (size_t i = 0; i < run.callpaths.size(); ++i) {
    const CallPathId parent = run.callpaths[i].parent;
    all[1 + i].parent = parent.valid() ? 1 + parent.index() : 0;
  }
  for (Stratum& each : all) each.seen_s.resize(windows);
  const auto add = [&](const Findings& from, const auto& to) {
    for (const FoundProfile& row : from.profile) {
      if (!row.callpath.valid()) continue;
      const auto visits = static_cast<double>(row.visits);
      to(all[1 + row.callpath.index()], measure == Measure::visits ? visits : row.time_s);
    }
  };
  add(run.parts.profile, [](Stratum& to, double size) { to.whole_s += size; });
  add(run.parts.whole, [](Stratum& to, double size) { to.whole_s -= size; });
  for (size_t j = 0; j < windows; ++j) {
    add(run.sample()[j].findings, [&](Stratum& to, double size) { to.seen_s[j] += size; });
  }
  strata_ = Strata(std::move(all), windows, run.covered(), run.is_apart());
}

}  // namespace culprit::blame
