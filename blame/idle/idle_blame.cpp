// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// For each team group one walk over its threads' changes of state in order of time, which builds
// the potential. After every few thousand steps the blame of each interval of work is added to its
// call paths, so that the working set stays in the cache. Team groups are independent.
#include "blame/idle/idle_blame.h"

#include <algorithm>
#include <utility>

#include "base/flat_map.h"
#include "base/parallel.h"
#include "base/progress/progress.h"
#include "base/tournament.h"

namespace culprit::blame {

namespace {

using replay::Run;
using replay::Wait;
using replay::WaitGraph;

enum class ThreadState : uint8_t {
  work,
  team,
  pool,
  io,
  mpi,
  waiting,
  mutex,
  device,
  waking,
  start_up,
  absent
};
constexpr size_t kStates = 11;

/// In the order of NobodyReason.
constexpr ThreadState kReasonStates[] = {
    ThreadState::io,     ThreadState::mpi,    ThreadState::waiting,  ThreadState::mutex,
    ThreadState::device, ThreadState::waking, ThreadState::start_up, ThreadState::absent};

ThreadState state_of(const Wait& wait) {
  switch (wait_kind(wait.pattern)) {
    case WaitKind::team:
      return ThreadState::team;
    case WaitKind::pool:
      return ThreadState::pool;
    case WaitKind::mutex:
      return ThreadState::mutex;
    case WaitKind::mpi:
      return ThreadState::waiting;
    case WaitKind::device:
      return ThreadState::device;
    case WaitKind::polling:
      return ThreadState::mpi;
    case WaitKind::other:
      break;
  }
  return ThreadState::absent;
}

ThreadState state_of(PathKind kind) {
  switch (kind) {
    case PathKind::work:
    case PathKind::runtime:
      return ThreadState::work;
    case PathKind::io:
      return ThreadState::io;
    case PathKind::mpi:
      return ThreadState::mpi;
    case PathKind::waking:
      return ThreadState::waking;
    case PathKind::start_up:
      return ThreadState::start_up;
    case PathKind::absent:
      break;
  }
  return ThreadState::absent;
}

/// A thread's state from `time` on, up to the next change.
struct Change {
  Time time;
  ThreadState state;
};

/// One thread's changes of state, one after the other.
class Changes {
 public:
  Changes(const Run& run, LocationId id, const Column<Wait>& waits,
          const std::vector<ThreadState>& states)
      : run_(run),
        all_(run.at(id).activities),
        states_(states),
        wait_(waits.begin()),
        last_(waits.end()),
        at_(run.begin),
        now_{run.begin, ThreadState::absent} {
    advance(true);
  }
  const Change& now() const { return now_; }  ///< Time::max(): there is none any more
  void advance() { advance(false); }

 private:
  void advance(bool first) {
    for (; i_ < all_.size(); ++i_) {
      const Time end = all_.end(i_);
      while (at_ < end) {
        while (wait_ != last_ && wait_->end <= at_) ++wait_;
        const Time begin = at_;
        const bool inside =
            wait_ != last_ && wait_->begin <= at_ && waits_at(run_, *wait_, all_.path(i_));
        const ThreadState there = states_[all_.path(i_).index()];
        const ThreadState state =
            inside && there != ThreadState::start_up ? state_of(*wait_) : there;
        at_ = end;
        if (wait_ != last_) at_ = std::min(end, wait_->begin > begin ? wait_->begin : wait_->end);
        if (state == now_.state && !first) continue;
        now_ = {begin, state};
        return;
      }
    }
    now_.time = Time::max();
  }

  const Run& run_;
  const replay::Activities& all_;
  const std::vector<ThreadState>& states_;  // by CallPathId, of what is no waiting
  const Wait* wait_;
  const Wait* const last_;
  size_t i_ = 0;
  Time at_;
  Change now_;
};

/// An interval of work between two changes, and its total blame.
struct WorkSpan {
  Time begin, end;
  double earned_before, earned_after;  ///< F, in nanoseconds
  size_t first_step, end_step;         ///< of the potential, within the span
};

/// F is linear between steps.
struct Step {
  Time time;
  double potential;
};

/// The blame of one location by call path, in nanoseconds: a dense array, which is reused.
class BlameSums {
 public:
  explicit BlameSums(size_t callpaths) : nanos_(callpaths) {}
  void add(CallPathId path, double nanos) {
    if (nanos <= 0) return;
    double& sum = nanos_[path.index()];
    if (sum == 0) touched_.push_back(path);
    sum += nanos;
  }
  /// Calls visit(path, nanos) for each, and resets the sums.
  template <class Visit>
  void take(const Visit& visit) {
    for (CallPathId path : touched_) visit(path, std::exchange(nanos_[path.index()], 0.0));
    touched_.clear();
  }

 private:
  std::vector<double> nanos_;
  std::vector<CallPathId> touched_;
};

/// The state of a thread of a team group.
struct Member {
  Member(const Run& run, LocationId of, const Column<Wait>& waits,
         const std::vector<ThreadState>& states)
      : id(of), changes(run, of, waits, states) {}

  LocationId id;
  Changes changes;
  ThreadState state = ThreadState::absent;
  std::vector<WorkSpan> spans;  ///< since earnings were given out
  size_t activity = 0;          ///< where that has got to
  FlatMap row_of;               ///< by call path
  std::vector<IdleBlame::BlameShare> earned;
};

class Sweep {
 public:
  Sweep(const Run& run, const WaitGraph& graph, const std::vector<ThreadState>& states,
        BlameSums& sums, IdleBlame::TeamGroup& group)
      : run_(run), graph_(graph), states_(states), sums_(sums), group_(group) {}

  /// Returns the blame of each member, by call path.
  std::vector<IdleBlame::BlameShare> run() {
    std::vector<IdleBlame::BlameShare> earned;
    if (!anybody_idle()) return earned;
    members_.reserve(group_.members.size());
    for (LocationId id : group_.members) {
      members_.emplace_back(run_, id, graph_.waits[id.index()], states_);
    }
    merge();
    for (Member& member : members_) {
      std::sort(member.earned.begin(), member.earned.end(),
                [](const auto& a, const auto& b) { return a.path < b.path; });
      earned.insert(earned.end(), member.earned.begin(), member.earned.end());
    }
    return earned;
  }

 private:
  bool anybody_idle() const {
    return std::any_of(group_.members.begin(), group_.members.end(), [&](LocationId id) {
      const Column<Wait>& waits = graph_.waits[id.index()];
      return std::any_of(waits.begin(), waits.end(), [](const Wait& wait) {
        const ThreadState state = state_of(wait);
        return state == ThreadState::team || state == ThreadState::pool;
      });
    });
  }

  void merge();
  void pass_until(Time time);
  void change(Member& member, ThreadState state);
  void close(WorkSpan& span) const;
  void open(Member& member) const;
  void give_out();
  void share(Member& member);
  double potential_at(Time time, const WorkSpan& span, size_t& step) const;

  size_t& count(ThreadState state) { return counts_[static_cast<size_t>(state)]; }
  size_t idle() { return count(ThreadState::team) + count(ThreadState::pool); }

  const Run& run_;
  const WaitGraph& graph_;
  const std::vector<ThreadState>& states_;  // by CallPathId
  BlameSums& sums_;
  IdleBlame::TeamGroup& group_;

  std::vector<Member> members_;
  std::array<size_t, kStates> counts_{};  // of members, by state
  std::vector<Step> steps_;               // since earnings were given out
};

/// Merges all members' changes in order of time; at equal times that of the first member comes
/// first.
void Sweep::merge() {
  constexpr size_t kMostSteps = 4096;
  count(ThreadState::absent) = members_.size();
  steps_.push_back({run_.begin, 0});
  EarliestOf next(members_.size());
  for (size_t m = 0; m < members_.size(); ++m) next.set(m, members_[m].changes.now().time);
  while (next.time() != Time::max()) {
    const size_t m = next.member();
    Member& member = members_[m];
    pass_until(next.time());
    if (steps_.size() > kMostSteps) give_out();
    change(member, member.changes.now().state);
    member.changes.advance();
    next.set(m, member.changes.now().time);
  }
  pass_until(run_.end);
  for (Member& member : members_) change(member, ThreadState::absent);
  give_out();
}

void Sweep::pass_until(Time time) {
  const Step last = steps_.back();
  if (time == last.time) return;
  const double passed = static_cast<double>((time - last.time).nanos());
  double potential = last.potential;
  if (idle() > 0) {
    group_.idle_s += passed * static_cast<double>(idle()) * 1e-9;
    if (count(ThreadState::work) > 0) {
      potential +=
          passed * static_cast<double>(idle()) / static_cast<double>(count(ThreadState::work));
    } else {
      size_t reason = 0;
      while (reason + 1 < kNobodyReasons && count(kReasonStates[reason]) == 0) ++reason;
      group_.nobody_team_s[reason] += passed * static_cast<double>(count(ThreadState::team)) * 1e-9;
      group_.nobody_pool_s[reason] += passed * static_cast<double>(count(ThreadState::pool)) * 1e-9;
    }
  }
  steps_.push_back({time, potential});
}

void Sweep::change(Member& member, ThreadState state) {
  if (member.state == state) return;
  if (member.state == ThreadState::work) close(member.spans.back());
  if (state == ThreadState::work) open(member);
  --count(member.state);
  ++count(state);
  member.state = state;
}

void Sweep::close(WorkSpan& span) const {
  span.end = steps_.back().time;
  span.earned_after = steps_.back().potential;
  span.end_step = steps_.size();
}

void Sweep::open(Member& member) const {
  const auto& [time, potential] = steps_.back();
  member.spans.push_back({time, time, potential, potential, steps_.size() - 1, 0});
}

/// Distributes the blame up to now, and resets it.
void Sweep::give_out() {
  for (Member& member : members_) {
    if (member.state == ThreadState::work) close(member.spans.back());
    share(member);
    member.spans.clear();
  }
  steps_ = {{steps_.back().time, 0}};
  for (Member& member : members_) {
    if (member.state == ThreadState::work) open(member);
  }
}

/// `step` must not be behind the first step after `time`, and is advanced to it.
double Sweep::potential_at(Time time, const WorkSpan& span, size_t& step) const {
  while (step < span.end_step && steps_[step].time <= time) ++step;
  if (step == span.end_step) return span.earned_after;
  const Step &before = steps_[step - 1], &after = steps_[step];
  const double part = static_cast<double>((time - before.time).nanos()) /
                      static_cast<double>((after.time - before.time).nanos());
  return before.potential + part * (after.potential - before.potential);
}

/// Distributes the blame of a member's work to its call paths. Spans and activities are in order of
/// time.
void Sweep::share(Member& member) {
  const replay::Activities& all = run_.at(member.id).activities;
  size_t& i = member.activity;
  for (const WorkSpan& span : member.spans) {
    if (span.earned_after <= span.earned_before) continue;
    i = all.after(span.begin, i);
    double before = span.earned_before;
    for (size_t step = span.first_step; all.end(i) < span.end; ++i) {
      const double after = potential_at(all.end(i), span, step);
      sums_.add(all.path(i), after - before);
      before = after;
    }
    sums_.add(all.path(i), span.earned_after - before);
  }
  sums_.take([&](CallPathId path, double nanos) {
    const auto fresh = static_cast<uint32_t>(member.earned.size());
    const uint32_t row = member.row_of.at(path.index(), fresh);
    if (row == fresh) member.earned.push_back({member.id, path, 0});
    member.earned[row].time_s += nanos * 1e-9;
  });
}

/// Returns the team groups: threads of each process, joined where one was in a team of another.
std::vector<IdleBlame::TeamGroup> find_team_groups(const Run& run) {
  std::vector<LocationId> leader(run.timelines.size());
  for (LocationId id : run.locations) leader[id.index()] = id;
  const auto find = [&](LocationId id) {
    while (leader[id.index()] != id) id = leader[id.index()] = leader[leader[id.index()].index()];
    return id;
  };
  for (LocationId id : run.locations) {
    for (LocationId team_of : run.at(id).leaders) {
      if (!leader[team_of.index()].valid()) continue;
      const LocationId a = find(id), b = find(team_of);
      (a < b ? leader[b.index()] : leader[a.index()]) = std::min(a, b);
    }
  }
  std::vector<std::vector<LocationId>> members(run.timelines.size());
  for (LocationId id : run.locations) members[find(id).index()].push_back(id);
  std::vector<IdleBlame::TeamGroup> groups;
  for (auto& list : members) {
    if (list.size() > 1) groups.push_back({std::move(list)});
  }
  return groups;
}

}  // namespace

IdleBlame blame_for_idleness(const Run& run, const WaitGraph& graph, unsigned threads) {
  std::vector<ThreadState> states;
  for (PathKind kind : path_kinds(run)) states.push_back(state_of(kind));
  IdleBlame result;
  result.groups = find_team_groups(run);
  std::vector<std::vector<IdleBlame::BlameShare>> earned(result.groups.size());
  progress::Progress progress(progress::Stage::blame, result.groups.size());
  parallel_for(
      result.groups.size(), threads, [&] { return BlameSums(run.callpaths.size()); },
      [&](size_t c, BlameSums& sums) {
        earned[c] = Sweep(run, graph, states, sums, result.groups[c]).run();
        progress.step();
      });
  for (const auto& rows : earned) {
    result.earned.insert(result.earned.end(), rows.begin(), rows.end());
  }
  return result;
}

}  // namespace culprit::blame
