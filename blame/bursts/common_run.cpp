// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Call paths and locations are joined over the parts, and each part is given their ids. Then the
// sample is chosen that stands for the rest of the run.

#include "blame/bursts/common_run.h"

#include <algorithm>
#include <utility>

#include "blame/algebra/integrate.h"
#include "blame/findings/findings_fields.h"

namespace culprit::blame {
namespace {

void give_ids(Findings& findings, const CommonIds& ids) {
  findings.callpaths.clear();
  findings.locations.clear();
  findings.metrics.clear();
  visit_lists(
      [&](auto& rows) {
        for (auto& row : rows) visit_fields(row, [&](auto& field) { field = ids(field); });
      },
      findings);
}

void take_first_part(CommonRun& run) {
  double start_up_s = 0;
  for (const FoundCriticalCallPath& row : run.parts.whole.critical_callpaths) {
    if (run.callpaths[row.callpath.index()].start_up) start_up_s += row.time_s;
  }
  const double end_s = run.parts.whole_s;
  run.first_part = {{0, 0, std::min(start_up_s, end_s), end_s, run.parts.whole, false}};
}

}  // namespace

CommonRun on_common_ground(BurstRun run) {
  std::vector<const Findings*> inputs{&run.profile, &run.whole};
  for (const TracedWindow& window : run.windows) inputs.push_back(&window.findings);
  CommonGround ground = integrate(inputs);
  CommonRun common;
  common.rest_s = std::max(0.0, run.profile.run.wall_s - run.whole_s);
  for (size_t i = 0; i < run.profile.locations.size(); ++i) {
    FoundLocation& row = ground.locations[ground.inputs.front().locations[i].index()];
    row.life_s = run.profile.locations[i].life_s;
  }
  common.callpaths = std::move(ground.callpaths);
  common.locations = std::move(ground.locations);
  common.metrics = std::move(ground.metrics);
  give_ids(run.profile, ground.inputs[0]);
  give_ids(run.whole, ground.inputs[1]);
  for (size_t j = 0; j < run.windows.size(); ++j) {
    give_ids(run.windows[j].findings, ground.inputs[2 + j]);
  }
  common.parts = std::move(run);
  if (common.parts.windows.empty() && common.parts.whole_s > 0) take_first_part(common);
  for (const TracedWindow& each : common.sample()) {
    common.seen_s += each.end_s - each.counted_from_s;
  }
  if (!common.is_apart()) common.rest_s = std::max(common.rest_s, common.seen_s);
  return common;
}

}  // namespace culprit::blame
