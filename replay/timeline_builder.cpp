// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "replay/timeline_builder.h"

#include <string_view>

namespace culprit::replay {

namespace {

bool starts_with_any(std::string_view name, std::initializer_list<std::string_view> prefixes) {
  for (std::string_view prefix : prefixes) {
    if (name.substr(0, prefix.size()) == prefix) return true;
  }
  return false;
}

/// Some writers give barriers of a team no paradigm; MPI's and devices' are none of OpenMP.
bool is_omp_barrier(const trace::Region& region) {
  using trace::Paradigm;
  const bool barrier = region.role == trace::RegionRole::barrier ||
                       region.role == trace::RegionRole::implicit_barrier;
  const bool untold = region.paradigm == Paradigm::unknown || region.paradigm == Paradigm::user ||
                      region.paradigm == Paradigm::compiler;
  return barrier && (region.paradigm == Paradigm::openmp ||
                     (untold && !starts_with_any(region.name, {"MPI_"})));
}

}  // namespace

std::vector<RegionTraits> traits_of(const std::vector<trace::Region>& regions) {
  std::vector<RegionTraits> traits;
  traits.reserve(regions.size());
  for (const trace::Region& region : regions) {
    const bool not_recorded = region.name == trace::kNotRecorded;
    traits.push_back({
        .test =
            not_recorded || starts_with_any(region.name, {"MPI_Test", "MPI_Request_get_status"}),
        .never_blocks = not_recorded || starts_with_any(region.name, {"MPI_Bsend", "MPI_Ibsend",
                                                                      "MPI_Rsend", "MPI_Irsend"}),
        .omp_barrier = is_omp_barrier(region),
        .parallel = region.role == trace::RegionRole::parallel,
        .stage =
            region.role == trace::RegionRole::phase || region.role == trace::RegionRole::iteration,
        .not_recorded = not_recorded,
        .waits_for_mutex = waits_for_mutex(region),
        .openmp = openmp_region_of(region),
    });
  }
  return traits;
}

void TimelineBuilder::touch(Time time) {
  if (counts_.counting() && time > line_.last) counts_.spent_time_at(line_.tree, top());
  if (line_.events++ == 0) {
    line_.first = time;
    line_.activities.push_back({time, top(), WaitIndex::none()});
  }
  line_.last = time;
}

void TimelineBuilder::set_path(Time time, CallPathId path) {
  Activity& current = line_.activities.back();
  if (current.begin == time) {
    current.path = path;  // nothing lasted no time
  } else if (current.path != path) {
    line_.activities.push_back({time, path, WaitIndex::none()});
  }
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
  uint32_t barrier = 0;
  if (traits.omp_barrier) {
    line_.barriers.push_back({time, Time::max(), path});
    barrier = static_cast<uint32_t>(line_.barriers.size());
    openmp_.enter_barrier(barrier - 1);
    if (!open_teams_.empty()) {
      line_.teams[open_teams_.back().span].barriers.push_back(barrier - 1);
    }
  }
  uint32_t stage = 0;
  if (traits.stage) {
    line_.stages.push_back({time, Time::max(), region, 0});
    stage = static_cast<uint32_t>(line_.stages.size());
  }
  stack_.push_back({path, region, time, CallIndex::none(), barrier, stage});
  set_path(time, path);
  if (traits.openmp != OpenmpRegion::none) openmp_.enter(time, traits.openmp, path);
}

void TimelineBuilder::leave(Time time, RegionId) {
  touch(time);
  if (stack_.empty()) return;  // readers repair nesting; a sink must not trust that
  const Frame frame = stack_.back();
  stack_.pop_back();
  if (frame.call.valid()) line_.calls[frame.call.index()].leave = time;
  if (frame.barrier != 0) {
    line_.barriers[frame.barrier - 1].leave = time;
    openmp_.leave_barrier();
  }
  if (traits_[frame.region.index()].openmp != OpenmpRegion::none) openmp_.leave(time);
  if (frame.stage != 0) line_.stages[frame.stage - 1].end = time;
  set_path(time, top());
}

CallIndex TimelineBuilder::current_call(Time time) {
  touch(time);
  if (stack_.empty()) {  // an operation outside of any call: give it one of no duration
    line_.calls.push_back({time, time, top()});
    call_region_.push_back(RegionId::none());
    return CallIndex(line_.calls.size() - 1);
  }
  Frame& frame = stack_.back();
  if (!frame.call.valid()) {
    frame.call = CallIndex(line_.calls.size());
    line_.calls.push_back({frame.enter, Time::max(), frame.path});
    call_region_.push_back(frame.region);
  }
  return frame.call;
}

const RegionTraits& TimelineBuilder::traits(CallIndex call) const {
  static constexpr RegionTraits kNone;
  const RegionId region = call_region_[call.index()];
  return region.valid() ? traits_[region.index()] : kNone;
}

void TimelineBuilder::foreign(ForeignRequest::Step step, trace::RequestId request, Time time,
                              CallIndex call, size_t op) {
  line_.open.foreign.push_back(
      {step, request, time, call, static_cast<uint32_t>(op), !traits(call).test});
}

void TimelineBuilder::mpi_send(Time time, const trace::MpiMessage& message) {
  const CallIndex call = current_call(time);
  SendOp& send = line_.sends.emplace_back();
  send.posted = send.completed = own(call);
  send.message = message;
  send.may_wait = !traits(call).never_blocks;
}

void TimelineBuilder::mpi_recv(Time time, const trace::MpiMessage& message) {
  const CallIndex call = current_call(time);
  RecvOp& recv = line_.recvs.emplace_back();
  recv.posted = recv.completed = own(call);
  recv.message = message;
  recv.may_wait = !traits(call).test;
}

void TimelineBuilder::mpi_isend(Time time, const trace::MpiMessage& message,
                                trace::RequestId request) {
  const CallIndex call = current_call(time);
  line_.open.sends[static_cast<uint64_t>(request)] = static_cast<uint32_t>(line_.sends.size());
  SendOp& send = line_.sends.emplace_back();
  send.posted = own(call);
  send.message = message;
  send.may_wait = !traits(call).never_blocks;
}

void TimelineBuilder::mpi_isend_complete(Time time, trace::RequestId request) {
  const CallIndex call = current_call(time);
  const auto pending = line_.open.sends.find(static_cast<uint64_t>(request));
  if (pending == line_.open.sends.end()) {
    return foreign(ForeignRequest::Step::sent, request, time, call);
  }
  SendOp& send = line_.sends[pending->second];
  send.completed = own(call);
  send.may_wait = send.may_wait && !traits(call).test;
  line_.open.sends.erase(pending);
}

void TimelineBuilder::mpi_isend_ready(Time time, trace::RequestId request) {
  const CallIndex call = current_call(time);
  const auto pending = line_.open.sends.find(static_cast<uint64_t>(request));
  if (pending == line_.open.sends.end()) {
    return foreign(ForeignRequest::Step::ready, request, time, call);
  }
  line_.sends[pending->second].ready = own(call);
}

void TimelineBuilder::mpi_irecv_request(Time time, trace::RequestId request) {
  const CallIndex call = current_call(time);
  line_.open.recvs[static_cast<uint64_t>(request)] = static_cast<uint32_t>(line_.recvs.size());
  RecvOp& recv = line_.recvs.emplace_back();
  recv.posted = own(call);
  recv.may_wait = false;
}

void TimelineBuilder::mpi_irecv(Time time, const trace::MpiMessage& message,
                                trace::RequestId request) {
  const CallIndex call = current_call(time);
  const auto pending = line_.open.recvs.find(static_cast<uint64_t>(request));
  size_t op = line_.recvs.size();
  if (pending != line_.open.recvs.end()) {
    op = pending->second;
    line_.open.recvs.erase(pending);
  } else {
    line_.recvs.emplace_back().posted = own(call);  // until its posting is found elsewhere
    foreign(ForeignRequest::Step::received, request, time, call, op);
  }
  RecvOp& recv = line_.recvs[op];
  recv.completed = own(call);
  recv.message = message;
  recv.may_wait = !traits(call).test;
}

void TimelineBuilder::mpi_request_cancelled(Time time, trace::RequestId request) {
  touch(time);
  // The operation stays uncompleted: matching skips it.
  const bool known = line_.open.recvs.erase(static_cast<uint64_t>(request)) > 0 ||
                     line_.open.sends.erase(static_cast<uint64_t>(request)) > 0;
  if (!known) foreign(ForeignRequest::Step::cancelled, request, time, current_call(time));
}

void TimelineBuilder::mpi_probe(Time time, const trace::MpiMessage& message) {
  touch(time);
  if (message.probe == trace::MatchedProbe::none) return;
  line_.open.probes[static_cast<uint64_t>(message.probe)] = current_call(time);
}

void TimelineBuilder::mpi_collective(Time time, const trace::MpiCollective& what) {
  const CallIndex index = current_call(time);
  const CallRef call = own(index);
  line_.collectives.push_back({call, call, what, !traits(index).not_recorded});
}

void TimelineBuilder::rma_collective(Time time, const trace::RmaCollective& what) {
  using Op = trace::CollectiveOp;
  if (what.op != Op::create_handle && what.op != Op::destroy_handle) return touch(time);
  mpi_collective(time, {what.op, windows_[what.window.index()].comm, {}, 0, 0});
}

void TimelineBuilder::mpi_icollective_request(Time time, trace::RequestId request) {
  line_.open.collectives[static_cast<uint64_t>(request)] = current_call(time);
}

void TimelineBuilder::mpi_icollective_complete(Time time, const trace::MpiCollective& what,
                                               trace::RequestId request) {
  const CallIndex call = current_call(time);
  const auto pending = line_.open.collectives.find(static_cast<uint64_t>(request));
  const bool known = pending != line_.open.collectives.end();
  const CallIndex posted = known ? pending->second : call;
  if (known) {
    line_.open.collectives.erase(pending);
  } else {
    foreign(ForeignRequest::Step::collective, request, time, call, line_.collectives.size());
  }
  line_.collectives.push_back({own(posted), own(call), what, !traits(call).test});
}

void TimelineBuilder::thread_fork(Time time, uint32_t, trace::RegionInstance instance) {
  touch(time);
  open_forks_.push_back(ForkIndex(line_.forks.size()));
  line_.forks.push_back({time, Time::max(), top(), top_region(), instance});
}

void TimelineBuilder::thread_join(Time time) {
  touch(time);
  if (open_forks_.empty()) return;
  line_.forks[open_forks_.back().index()].join = time;
  open_forks_.pop_back();
}

void TimelineBuilder::thread_team_begin(Time time, trace::RegionInstance instance) {
  touch(time);
  openmp_.team_begin(line_.teams.size());
  open_teams_.push_back({line_.teams.size(), base_, base_region_});
  line_.teams.push_back({time, Time::max(), instance, LocationId::none(), ForkIndex::none(), {}});
  join_team(line_.teams.back());
}

void TimelineBuilder::join_team(TeamSpan& span) {
  const auto is_own = [&](ForkIndex fork) {
    const Fork& own = line_.forks[fork.index()];
    return span.instance == own.instance || span.instance == trace::RegionInstance::unknown;
  };
  if (!open_forks_.empty() && is_own(open_forks_.back())) {
    span.fork_location = location_;
    span.fork = open_forks_.back();
    return;
  }
  const TeamOrigin* origin = find_fork_(span.begin, span.instance);
  if (origin != nullptr) {
    span.fork_location = origin->location;
    span.fork = origin->fork;
  }
  if (!stack_.empty()) return;
  base_ = anchor(origin, span.begin, span.instance);
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
  counts_.read(time, set, values, top());
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
  // What is still open ends with the location's last event.
  for (Call& call : line_.calls) {
    if (call.leave == Time::max()) call.leave = line_.last;
  }
  for (BarrierVisit& barrier : line_.barriers) {
    if (barrier.leave == Time::max()) barrier.leave = line_.last;
  }
  for (StageVisit& stage : line_.stages) {
    if (stage.end == Time::max()) stage.end = line_.last;
  }
  for (TeamSpan& team : line_.teams) {
    if (team.end == Time::max()) team.end = line_.last;
  }
  for (Fork& fork : line_.forks) {
    if (fork.join == Time::max()) fork.join = line_.last;
  }
  line_.counts = counts_.take();
  line_.openmp = openmp_.take(line_.last);
  line_.visits.resize(line_.tree.size());
  return std::move(line_);
}

}  // namespace culprit::replay
