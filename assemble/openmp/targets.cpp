// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/openmp/targets.h"

#include "assemble/openmp/ompt_names.h"

namespace culprit::assemble {

using trace::Fact;
using trace::RawTarget;
using trace::RegionRole;

namespace {

Level level_of(const RawRecord& record) {
  return target_class(record.flags) == RawTarget::construct ? Level::work : Level::call;
}

}  // namespace

void OpenmpTargets::begin(const RawRecord& record) {
  const Time time = state_.time(record);
  const RawTarget what = target_class(record.flags);
  if (record.w[0] != 0) state_.observe_code(time, record.w[0]);
  state_.timeline.enter(
      time, level_of(record),
      state_.process.regions.openmp(target_name(record.flags), RegionRole::function,
                                    teams_.place(record.w[0])),
      kTargetIds + record.flags);
  if (what == RawTarget::submit) return state_.fact(time, Fact::target_teams, record.w[1]);
  state_.fact(time, Fact::target_device, record.arg);
  if (what == RawTarget::data) state_.fact(time, Fact::target_bytes, record.w[1]);
}

void OpenmpTargets::end(const RawRecord& record) {
  const size_t depth = find_level(state_.timeline, level_of(record), kTargetIds + record.flags);
  if (depth != Timeline::npos) teams_.close(state_.time(record), depth);
}

}  // namespace culprit::assemble
