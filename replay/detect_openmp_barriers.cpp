// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Waits at OpenMP barriers: explicit ones and those that end a construct or a region. Each member
// of a team passes the same barriers in the same order, so the n-th visits of all members belong
// together. Everybody waits for the last arrival; tasks that a thread runs inside the barrier are
// regions of their own, so that time there is no waiting (the carving of waits sees to it).
#include <algorithm>
#include <tuple>

#include "replay/detection.h"

namespace culprit::replay {

namespace {

/// One thread in one team.
struct Member {
  LocationId fork_location;
  ForkIndex fork;
  LocationId location;
  uint32_t team;  ///< index into its teams
};

std::vector<Member> members_of_all_teams(const Run& run) {
  std::vector<Member> members;
  for (LocationId id : run.locations) {
    const Timeline& line = run.at(id);
    for (uint32_t t = 0; t < line.teams.size(); ++t) {
      const TeamSpan& team = line.teams[t];
      if (team.fork.valid()) members.push_back({team.fork_location, team.fork, id, t});
    }
  }
  std::sort(members.begin(), members.end(), [](const Member& a, const Member& b) {
    return std::tie(a.fork_location, a.fork, a.location, a.team) <
           std::tie(b.fork_location, b.fork, b.location, b.team);
  });
  return members;
}

class BarrierDetector {
 public:
  BarrierDetector(const Run& run, Detection& out) : run_(run), out_(out) {}

  void run() {
    members_ = members_of_all_teams(run_);
    for (size_t i = 0; i < members_.size();) {
      size_t j = i;
      while (j < members_.size() && members_[j].fork == members_[i].fork &&
             members_[j].fork_location == members_[i].fork_location) {
        ++j;
      }
      visit_team(i, j);
      i = j;
    }
    out_.losses.add("uneven_barriers", Severity::warning,
                    "teams whose threads passed different numbers of barriers, as far as the trace "
                    "tells: the last ones are not compared",
                    uneven_);
  }

 private:
  const TeamSpan& team(const Member& member) const {
    return run_.at(member.location).teams[member.team];
  }

  /// The n-th visit of a member. One that leaves the team without visiting the barrier at its end
  /// arrives there when it leaves.
  BarrierVisit visit(const Member& member, size_t n) const {
    const TeamSpan& span = team(member);
    if (n >= span.barriers) return {span.end, span.end, CallPathId::none()};
    uint32_t at = span.first_barrier;
    while (n-- > 0) at = run_.at(member.location).barriers[at].next;
    return run_.at(member.location).barriers[at];
  }

  void visit_team(size_t first, size_t end) {
    if (end - first < 2) return;
    size_t fewest = SIZE_MAX, most = 0;
    for (size_t m = first; m < end; ++m) {
      const size_t n = team(members_[m]).barriers;
      fewest = std::min(fewest, n);
      most = std::max(most, n);
    }
    if (most > fewest + 1) ++uneven_;
    for (size_t n = 0; n < std::min(most, fewest + 1); ++n) visit_barrier(first, end, n);
  }

  void visit_barrier(size_t first, size_t end, size_t n) {
    size_t last = first;
    Time earliest = Time::max();
    for (size_t m = first; m < end; ++m) {
      const Time arrival = visit(members_[m], n).enter;
      if (arrival > visit(members_[last], n).enter) last = m;
      earliest = std::min(earliest, arrival);
    }
    const Time arrival = visit(members_[last], n).enter;
    if (earliest == arrival) return;
    std::vector<LocationId> ids;
    for (size_t m = first; m < end; ++m) {
      const BarrierVisit own = visit(members_[m], n);
      ids.push_back(members_[m].location);
      if (own.enter < arrival) {
        out_.at(members_[m].location)
            .wait(pattern("omp.barrier"), own.path, own.enter, own.leave, arrival,
                  members_[last].location, arrival);
      }
    }
    const GroupId group = out_.group_of(ids);
    const Instance instance = out_.next_instance();
    for (size_t m = first; m < end; ++m) {
      const BarrierVisit own = visit(members_[m], n);
      out_.at(members_[m].location).sync(Sync::of(group, instance, own.leave));
    }
  }

  const Run& run_;
  Detection& out_;
  std::vector<Member> members_;
  uint64_t uneven_ = 0;
};

}  // namespace

void detect_openmp_barriers(Run& run, unsigned, Detection& out) {
  BarrierDetector(run, out).run();
}

}  // namespace culprit::replay
