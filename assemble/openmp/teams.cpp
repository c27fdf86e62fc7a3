// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The levels of nesting are a stack. A region whose end is late is closed at the time at which its
// master left, which the survey has found beforehand (assemble/run/survey.h).
#include "assemble/openmp/teams.h"

#include <algorithm>

namespace culprit::assemble {

using trace::RegionInstance;
using trace::RegionRole;

size_t find_level(const Timeline& timeline, Level level, uint64_t id) {
  if (level == Level::task && !timeline.may_be_in_task(id)) return Timeline::npos;
  return find_in_team(timeline, [level, id](const Timeline::Entry& entry) {
    return entry.level == level && entry.id == id;
  });
}

void OpenmpTeams::finish(Time end) {
  while (!openings_.empty()) close_top_opening(end);
}

void OpenmpTeams::leave_what_is_over(Time time) {
  const auto over = std::find_if(openings_.begin(), openings_.end(),
                                 [&](const Opening& opening) { return opening.over < time; });
  if (over == openings_.end()) return;
  const auto kept = static_cast<size_t>(over - openings_.begin());
  const Time end = over->over;
  while (openings_.size() > kept) close_top_opening(end);
}

const OpenmpTeams::Opening* OpenmpTeams::team() const {
  for (auto opening = openings_.rbegin(); opening != openings_.rend(); ++opening) {
    if (opening->team) return &*opening;
  }
  return nullptr;
}

Time OpenmpTeams::due(Time time) const {
  const Opening* inside = team();
  return inside != nullptr ? std::min(time, inside->over) : time;
}

/// When the thread that forked the region left it; the latest time if that is unknown.
Time OpenmpTeams::left_by_master(uint64_t region) const {
  const auto known = state_.process.survey.regions.find(region);
  if (known == state_.process.survey.regions.end() || known->second.end_ticks == 0) {
    return Time::max();
  }
  return state_.process.time(known->second.end_ticks);
}

void OpenmpTeams::close_top_opening(Time time) {
  const Opening top = openings_.back();
  openings_.pop_back();
  Timeline& timeline = state_.timeline;
  if (!top.team) {
    timeline.observe_nothing(time);
    const Time joined = timeline.advance(time);
    return timeline.sink().thread_join(joined);
  }
  const Time end = std::min(time, top.over);
  timeline.leave(end, top.depth);
  const Time left = timeline.advance(end);
  timeline.sink().thread_team_end(left);
}

/// Leaves the construct at `depth` with all teams and forks inside it.
void OpenmpTeams::close(Time time, size_t depth) {
  while (!openings_.empty() && openings_.back().depth > depth) close_top_opening(time);
  state_.timeline.leave(time, depth);
}

bool OpenmpTeams::is_hidden(uint64_t region) const {
  const auto known = state_.process.survey.regions.find(region);
  if (known == state_.process.survey.regions.end() || !known->second.by_new_initial) return false;
  const Code& fork = state_.process.code.before(known->second.code);
  return !fork.frames.empty() && fork.frames.front().kind == CodeKind::openmp_runtime;
}

void OpenmpTeams::parallel_begin(const RawRecord& record) {
  const Time time = state_.time(record);
  const auto begun = record.as<raw::omp_parallel_begin>();
  const uint64_t region = begun.region;
  if (is_hidden(region)) return;
  if (begun.path != 0) {
    state_.observe(time, begun.path);
  } else {
    state_.observe_code(time, begun.code);
  }
  Timeline& timeline = state_.timeline;
  const auto known = state_.process.survey.regions.find(region);
  const uint32_t size = known == state_.process.survey.regions.end() ? 0 : known->second.team_size;
  openings_.push_back({false, true, region, timeline.stack().size()});
  const Time forked = timeline.advance(time);
  timeline.sink().thread_fork(forked, size, RegionInstance{region});
}

void OpenmpTeams::parallel_end(const RawRecord& record) {
  const uint64_t region = record.as<raw::omp_parallel_end>().region;
  const auto fork = std::find_if(openings_.rbegin(), openings_.rend(), [&](const Opening& opening) {
    return !opening.team && opening.region == region;
  });
  if (fork == openings_.rend()) return;
  const auto first = static_cast<size_t>(openings_.rend() - fork) - 1;
  while (openings_.size() > first) close_top_opening(state_.time(record));
}

void OpenmpTeams::implicit_begin(const RawRecord& record) {
  const uint64_t region = record.as<raw::omp_implicit_begin>().region;
  // Region 0: the initial task, the program itself.
  if (region == 0 || is_hidden(region)) return;
  // Recording was off when it was forked: the team is unknown.
  const auto known = state_.process.survey.regions.find(region);
  const bool surveyed = known != state_.process.survey.regions.end();
  if (!state_.process.pauses.empty() && !(surveyed && known->second.forked)) return;
  const Time time = state_.time(record);
  const bool own =
      !openings_.empty() && !openings_.back().team && openings_.back().region == region;
  // A worker that begins anew has left all other constructs, whether or not that was reported.
  if (!own) finish(time);
  Timeline& timeline = state_.timeline;
  timeline.observe_nothing(time);
  const Time begun = timeline.advance(time);
  timeline.sink().thread_team_begin(begun, RegionInstance{region});

  const bool league = surveyed && known->second.league;
  openings_.push_back(
      {true, own, region, timeline.stack().size(), own ? Time::max() : left_by_master(region)});
  last_work = nullptr;
  timeline.enter(
      begun, Level::parallel,
      state_.construct(league ? "teams" : "parallel", RegionRole::parallel, team_place()), region);
}

void OpenmpTeams::implicit_end(const RawRecord& record) {
  const uint64_t region = record.as<raw::omp_implicit_end>().region;
  const auto ended =
      std::find_if(openings_.rbegin(), openings_.rend(), [&](const Opening& opening) {
        return opening.team && (region == 0 || opening.region == region);
      });
  if (ended == openings_.rend()) return;
  const auto first = static_cast<size_t>(openings_.rend() - ended) - 1;
  while (openings_.size() > first) close_top_opening(state_.time(record));
}

const Symbol* OpenmpTeams::place(uint64_t code) const {
  if (code == 0) return nullptr;
  const Code& found = state_.process.code.before(code);
  const bool own = !found.frames.empty() && (found.frames.front().kind == CodeKind::user ||
                                             found.frames.front().kind == CodeKind::outlined);
  return own ? found.symbol : nullptr;
}

const Symbol* OpenmpTeams::team_place() const {
  const Opening* inside = team();
  if (inside == nullptr) return nullptr;
  const auto known = state_.process.survey.regions.find(inside->region);
  return known == state_.process.survey.regions.end() ? nullptr : place(known->second.code);
}

}  // namespace culprit::assemble
