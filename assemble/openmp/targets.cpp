// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/openmp/targets.h"

#include "assemble/openmp/ompt_names.h"

namespace culprit::assemble {

using trace::Fact;
using trace::RawTarget;
using trace::RegionRole;

namespace {

Level level_of(uint16_t what) {
  return target_class(what) == RawTarget::construct ? Level::work : Level::call;
}

}  // namespace

void OpenmpTargets::begin(const RawRecord& record) {
  const auto begun = record.as<raw::omp_target_begin>();
  const Time time = state_.time(record);
  const RawTarget what = target_class(begun.what);
  if (begun.code != 0) state_.observe_code(time, begun.code);
  state_.timeline.enter(
      time, level_of(begun.what),
      state_.construct(target_name(begun.what), RegionRole::function, teams_.place(begun.code)),
      kTargetIds + begun.what);
  if (what == RawTarget::submit) return state_.fact(time, Fact::target_teams, begun.count);
  state_.fact(time, Fact::target_device, begun.device);
  if (what == RawTarget::data) state_.fact(time, Fact::target_bytes, begun.count);
}

void OpenmpTargets::end(const RawRecord& record) {
  const uint16_t what = record.as<raw::omp_target_end>().what;
  const size_t depth = find_level(state_.timeline, level_of(what), kTargetIds + what);
  if (depth != Timeline::npos) teams_.close(state_.time(record), depth);
}

}  // namespace culprit::assemble
