// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The stack of frames, with activities appended whenever its top changes. What a region means is
// looked up by its id in a table made once.
#include "replay/read/timeline_builder.h"

#include <algorithm>

#include "trace/mpi_calls.h"
#include "trace/pseudo_regions.h"

namespace culprit::replay {

namespace {

/// Some writers give barriers of a team no paradigm; the barriers of MPI and devices have theirs.
bool is_omp_barrier(const trace::Region& region) {
  using trace::Paradigm;
  const bool barrier = region.role == trace::RegionRole::barrier ||
                       region.role == trace::RegionRole::implicit_barrier;
  const bool untold = region.paradigm == Paradigm::unknown || region.paradigm == Paradigm::user ||
                      region.paradigm == Paradigm::compiler;
  return barrier && (region.paradigm == Paradigm::openmp || untold);
}

bool is_stream(const trace::Location& location) {
  return location.kind == trace::LocationKind::accelerator_stream;
}

}  // namespace

std::vector<RegionTraits> traits_of(const trace::Definitions& definitions) {
  const bool devices_untold =
      !definitions.numbers_operations() &&
      std::any_of(definitions.locations.begin(), definitions.locations.end(), is_stream);
  std::vector<RegionTraits> traits;
  traits.reserve(definitions.regions.size());
  for (const trace::Region& region : definitions.regions) {
    const bool not_recorded = region.name == trace::kNotRecorded;
    const trace::MpiCall* const call = trace::mpi_call(region);
    traits.push_back({
        .test = not_recorded || asking_region_of(region).tests,
        .never_blocks = not_recorded || (call != nullptr && call->never_blocks()),
        .omp_barrier = is_omp_barrier(region),
        .parallel = region.role == trace::RegionRole::parallel,
        .stage =
            region.role == trace::RegionRole::phase || region.role == trace::RegionRole::iteration,
        .not_sampled = region.name == trace::kNotSampled ||
                       trace::pseudo_of(region.name) == trace::Pseudo::blocked_unknown,
        .not_recorded = not_recorded,
        .waits_for_mutex = waits_for_mutex(region),
        .openmp = openmp_region_of(region),
        .device = devices_untold ? device_call_of(region) : DeviceCall::none,
        .waits_for_event = devices_untold && waits_for_device_event(region),
        .asking = asking_region_of(region),
    });
  }
  return traits;
}

void TimelineBuilder::expect(uint64_t events) {
  // An archive may promise anything.
  line_.activities.reserve(std::min<uint64_t>(events, uint64_t{1} << 24));
}

void TimelineBuilder::begin_life(Time time) {
  line_.first = time;
  // Two places for what was before; read_run knows what that is.
  for (int i = 0; i < 2; ++i) line_.activities.push_back(Time::min(), CallPathId::none());
  line_.activities.push_back(time, top());
}

void TimelineBuilder::enter(Time time, RegionId region) {
  touch(time);
  const RegionTraits& traits = traits_[region.index()];
  // A team's members may enter the region that their team hangs under: they are there already.
  const bool shadow = traits.parallel && !open_teams_.empty() && region == top_region();
  const CallPathId path = shadow ? top() : line_.tree.child(top(), region);
  if (!shadow) {
    if (path.index() >= line_.visits.size()) line_.visits.resize(path.index() + 1);
    ++line_.visits[path.index()];
  }
  Frame& frame = stack_.emplace_back(path, region, time);
  if (traits.stage) {
    line_.stages.push_back({time, Time::max(), region, 0});
    frame.stage = static_cast<uint32_t>(line_.stages.size());
  }
  set_path(time, path);
  frame.activity = static_cast<uint32_t>(line_.activities.size() - 1);
  if (traits.omp_barrier) {
    frame.call = line_.calls.add(frame.activity);
    frame.barrier = true;
    enter_barrier(frame.call);
  }
  if (traits.openmp != OpenmpRegion::none) openmp_.enter(time, traits.openmp, path);
  if (traits.device != DeviceCall::none) enter_device_call(time, traits.device);
  if (traits.waits_for_event) enter_event_wait(time);
}

void TimelineBuilder::enter_barrier(CallIndex call) {
  const uint32_t index = static_cast<uint32_t>(line_.barriers.size());
  line_.barriers.push_back({call});
  openmp_.enter_barrier(index);
  if (open_teams_.empty()) return;
  OpenTeam& open = open_teams_.back();
  TeamSpan& team = line_.teams[open.span];
  (team.barriers++ == 0 ? team.first_barrier : line_.barriers[open.last_barrier].next) = index;
  open.last_barrier = index;
}

void TimelineBuilder::leave(Time time, RegionId) {
  touch(time);
  if (stack_.empty()) return;  // readers repair nesting; a sink must not trust that
  const AskingRegion asking = top_traits().asking;
  if (asking.probes && !stack_.back().call.valid()) probes_.silent(current_call(time));
  const Frame frame = stack_.back();
  stack_.pop_back();
  if (frame.barrier) openmp_.leave_barrier();
  if (traits_[frame.region.index()].openmp != OpenmpRegion::none) openmp_.leave(time);
  if (frame.stage != 0) line_.stages[frame.stage - 1].end = time;
  set_path(time, top());
  if (frame.call.valid()) {
    close_call(frame, time);
    probes_.left_call();
  } else if (asking.polls) {
    probes_.fruitless(frame.enter);
  }
}

/// A call is its activity if that began and ended with it.
void TimelineBuilder::close_call(const Frame& frame, Time leave) {
  const Activities& all = line_.activities;
  const size_t i = frame.activity;
  const bool whole = i + 2 == all.size() && all.begin(i) == frame.enter &&
                     all.begin(i + 1) == leave && all.path(i) == frame.path;
  if (!whole) line_.calls.set(frame.call, {frame.enter, leave, frame.path});
}

CallIndex TimelineBuilder::current_call(Time time) {
  touch(time);
  // An operation outside of any call: give it one of no duration.
  if (stack_.empty()) return line_.calls.add({time, time, top()});
  Frame& frame = stack_.back();
  if (!frame.call.valid()) frame.call = line_.calls.add(frame.activity);
  return frame.call;
}

const RegionTraits& TimelineBuilder::top_traits() const {
  static constexpr RegionTraits kNone;
  return stack_.empty() ? kNone : traits_[stack_.back().region.index()];
}

void TimelineBuilder::thread_fork(Time time, uint32_t, trace::RegionInstance instance) {
  touch(time);
  open_forks_.push_back(ForkIndex(line_.forks.size()));
  line_.forks.push_back({time, top(), top_region(), instance});
}

void TimelineBuilder::thread_join(Time time) {
  touch(time);
  if (open_forks_.empty()) return;
  open_forks_.pop_back();
}

void TimelineBuilder::thread_team_begin(Time time, trace::RegionInstance instance) {
  line_.ended = false;
  touch(time);
  openmp_.team_begin(line_.teams.size());
  open_teams_.push_back({line_.teams.size(), base_, base_region_});
  line_.teams.push_back({time, Time::max(), LocationId::none(), ForkIndex::none()});
  join_team(line_.teams.size() - 1, instance);
}

void TimelineBuilder::join_team(size_t index, trace::RegionInstance instance) {
  TeamSpan& span = line_.teams[index];
  const auto is_own = [&](ForkIndex fork) {
    const Fork& own = line_.forks[fork.index()];
    return instance == own.instance || instance == trace::RegionInstance::unknown;
  };
  if (!open_forks_.empty() && is_own(open_forks_.back())) {
    span.fork_location = location_;
    span.fork = open_forks_.back();
    return;
  }
  const TeamOrigin* origin = find_fork_(span.begin, instance);
  if (origin != nullptr) {
    span.fork_location = origin->location;
    span.fork = origin->fork;
  } else {
    line_.lost_teams.push_back({static_cast<uint32_t>(index), instance});
  }
  if (!stack_.empty()) return;
  base_ = anchor(origin, span.begin, instance);
  base_region_ = origin != nullptr ? origin->region : RegionId::none();
  set_path(span.begin, base_);
}

CallPathId TimelineBuilder::anchor(const TeamOrigin* origin, Time time,
                                   trace::RegionInstance instance) {
  if (origin == nullptr) {
    anchors_.push_back({line_.tree.add_anchor(), {}, instance, time});
    return anchors_.back().own;
  }
  const uint64_t key = (uint64_t{origin->location.index()} << 32) | uint32_t(origin->path.index());
  auto [known, fresh] = anchor_of_.try_emplace(key);
  if (fresh) {
    known->second = line_.tree.add_anchor();
    anchors_.push_back({known->second, *origin, instance, time});
  }
  return known->second;
}

void TimelineBuilder::thread_team_end(Time time) {
  touch(time);
  if (open_teams_.empty()) return;
  openmp_.team_end();
  const OpenTeam team = open_teams_.back();
  open_teams_.pop_back();
  line_.teams[team.span].end = time;
  base_ = team.base;
  base_region_ = team.base_region;
  set_path(time, top());
}

void TimelineBuilder::metrics(Time time, MetricSetId set, std::span<const double> values) {
  touch(time);
  counts_.read(time, set, values, counted());
}

void TimelineBuilder::iteration(Time time, int64_t number) {
  touch(time);
  if (!stack_.empty() && stack_.back().stage != 0) {
    line_.stages[stack_.back().stage - 1].number = number;
  }
}

void TimelineBuilder::other(Time time, const char*) {
  touch(time);
}

Timeline TimelineBuilder::take() {
  // Open regions end with the location's last event.
  for (const Frame& frame : stack_) {
    if (frame.call.valid()) line_.calls.set(frame.call, {frame.enter, line_.last, frame.path});
  }
  for (StageVisit& stage : line_.stages) {
    if (stage.end == Time::max()) stage.end = line_.last;
  }
  for (TeamSpan& team : line_.teams) {
    if (team.end == Time::max()) team.end = line_.last;
  }
  line_.counts = counts_.take();
  line_.openmp = openmp_.take(line_.last);
  line_.probes = probes_.take();
  line_.visits.resize(line_.tree.size());
  return std::move(line_);
}

// What is nothing but a sign of life, as its effects are events of their own.
void TimelineBuilder::recording(Time time, bool) {
  touch(time);
}
void TimelineBuilder::mpi_request_test(Time time, trace::RequestId) {
  touch(time);
}
void TimelineBuilder::rma_window_created(Time time, WindowId) {
  touch(time);
}
void TimelineBuilder::rma_window_destroyed(Time time, WindowId) {
  touch(time);
}
void TimelineBuilder::rma_complete(Time time, WindowId, trace::RmaOpId, trace::RmaCompletion) {
  touch(time);
}
void TimelineBuilder::file_opened(Time time, FileId, trace::FileAccess) {
  touch(time);
}
void TimelineBuilder::file_closed(Time time, FileId) {
  touch(time);
}
void TimelineBuilder::file_operation(Time time, const trace::FileOperation&) {
  touch(time);
}
void TimelineBuilder::file_operation_issued(Time time, FileId, trace::FileOpId) {
  touch(time);
}
void TimelineBuilder::file_operation_complete(Time time, FileId, trace::FileOpId, uint64_t) {
  touch(time);
}
/// Streams have builders of their own.
void TimelineBuilder::device_operation(Time, const trace::DeviceOperation&) {}

}  // namespace culprit::replay
