// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// For each crew: first each thread's changes of state, then one merge of these in order of time,
// which makes the potential, then what each stretch of work earned. Crews are independent.
#include "blame/idle_blame.h"

#include <algorithm>

#include "base/parallel.h"
#include "blame/stretches.h"

namespace culprit::blame {

namespace {

using replay::Run;
using replay::Wait;
using replay::WaitGraph;

enum class State : uint8_t { work, team, pool, io, mpi, waiting, mutex, waking, absent };
constexpr size_t kStates = 9;

/// In the order of NobodyReason.
constexpr State kReasonStates[] = {State::io,    State::mpi,    State::waiting,
                                   State::mutex, State::waking, State::absent};

State state_of(const Wait& wait) {
  switch (wait_kind(wait.pattern)) {
    case WaitKind::team:
      return State::team;
    case WaitKind::pool:
      return State::pool;
    case WaitKind::mutex:
      return State::mutex;
    case WaitKind::mpi:
      return State::waiting;
    case WaitKind::other:
      break;
  }
  return State::absent;
}

State state_of(PathKind kind) {
  switch (kind) {
    case PathKind::work:
    case PathKind::runtime:
      return State::work;
    case PathKind::io:
      return State::io;
    case PathKind::mpi:
      return State::mpi;
    case PathKind::waking:
      return State::waking;
    case PathKind::absent:
      break;
  }
  return State::absent;
}

/// From `time` on, up to the next change.
struct Change {
  Time time;
  State state;
};

/// A stretch of work between two changes, and what it earned in all.
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

/// Whose next change is the earliest: a tournament, O(log n) for each change.
class EarliestOf {
 public:
  explicit EarliestOf(size_t members) {
    while (leaves_ < members) leaves_ *= 2;
    times_.assign(leaves_, Time::max());
    winners_.assign(2 * leaves_, 0);
    for (size_t m = 0; m < leaves_; ++m) winners_[leaves_ + m] = static_cast<uint32_t>(m);
    for (size_t node = leaves_ - 1; node >= 1; --node) play(node);
  }
  void set(size_t member, Time time) {
    times_[member] = time;
    for (size_t node = (leaves_ + member) / 2; node >= 1; node /= 2) play(node);
  }
  size_t member() const { return winners_[1]; }  ///< of equal ones the first
  Time time() const { return times_[winners_[1]]; }

 private:
  void play(size_t node) {
    const uint32_t left = winners_[2 * node], right = winners_[2 * node + 1];
    winners_[node] = times_[right] < times_[left] ? right : left;
  }
  size_t leaves_ = 1;
  std::vector<Time> times_;        // by member
  std::vector<uint32_t> winners_;  // by node of a binary tree; its leaves are the members
};

/// What one location earned by call path: dense, and used again.
class EarnedSums {
 public:
  explicit EarnedSums(size_t callpaths) : nanos_(callpaths) {}
  void add(CallPathId path, double nanos) {
    if (nanos <= 0) return;
    double& sum = nanos_[path.index()];
    if (sum == 0) touched_.push_back(path);
    sum += nanos;
  }
  void move_to(LocationId location, std::vector<IdleBlame::Earned>& rows) {
    std::sort(touched_.begin(), touched_.end());
    for (CallPathId path : touched_) {
      rows.push_back({location, path, nanos_[path.index()] * 1e-9});
      nanos_[path.index()] = 0;
    }
    touched_.clear();
  }

 private:
  std::vector<double> nanos_;
  std::vector<CallPathId> touched_;
};

class Sweep {
 public:
  Sweep(const Run& run, const WaitGraph& graph, const std::vector<PathKind>& kinds,
        EarnedSums& sums, IdleBlame::Crew& crew, std::vector<IdleBlame::Earned>& earned)
      : run_(run), graph_(graph), kinds_(kinds), sums_(sums), crew_(crew), earned_(earned) {}

  void run() {
    if (!anybody_idle()) return;
    for (LocationId id : crew_.members) changes_.push_back(changes_of(id));
    spans_.resize(crew_.members.size());
    merge();
    for (size_t m = 0; m < crew_.members.size(); ++m) share(m);
  }

 private:
  bool anybody_idle() const {
    return std::any_of(crew_.members.begin(), crew_.members.end(), [&](LocationId id) {
      const Column<Wait>& waits = graph_.waits[id.index()];
      return std::any_of(waits.begin(), waits.end(), [](const Wait& wait) {
        const State state = state_of(wait);
        return state == State::team || state == State::pool;
      });
    });
  }

  std::vector<Change> changes_of(LocationId id) const {
    std::vector<Change> changes;
    for_each_stretch(run_, id, graph_.waits[id.index()], run_.begin, run_.end,
                     [&](Time begin, Time, CallPathId path, const Wait* wait) {
                       const State state =
                           wait != nullptr ? state_of(*wait) : state_of(kinds_[path.index()]);
                       if (changes.empty() || changes.back().state != state) {
                         changes.push_back({begin, state});
                       }
                     });
    return changes;
  }

  void merge();
  void pass_until(Time time);
  void change(size_t member, State state);
  void share(size_t member);
  double potential_at(Time time, const WorkSpan& span) const;

  size_t& count(State state) { return counts_[static_cast<size_t>(state)]; }
  size_t idle() { return count(State::team) + count(State::pool); }

  const Run& run_;
  const WaitGraph& graph_;
  const std::vector<PathKind>& kinds_;
  EarnedSums& sums_;
  IdleBlame::Crew& crew_;
  std::vector<IdleBlame::Earned>& earned_;

  std::vector<std::vector<Change>> changes_;  // by member
  std::vector<std::vector<WorkSpan>> spans_;  // by member
  std::array<size_t, kStates> counts_{};      // of members, by state
  std::vector<Step> steps_;
  std::vector<State> states_;  // by member
};

/// All members' changes in order of time; of equal ones that of the first member comes first.
void Sweep::merge() {
  states_.assign(changes_.size(), State::absent);
  count(State::absent) = changes_.size();
  steps_.push_back({run_.begin, 0});
  EarliestOf next(changes_.size());
  std::vector<size_t> at(changes_.size(), 0);
  const auto time_of = [&](size_t m) {
    return at[m] < changes_[m].size() ? changes_[m][at[m]].time : Time::max();
  };
  for (size_t m = 0; m < changes_.size(); ++m) next.set(m, time_of(m));
  while (next.time() != Time::max()) {
    const size_t m = next.member();
    pass_until(next.time());
    change(m, changes_[m][at[m]++].state);
    next.set(m, time_of(m));
  }
  pass_until(run_.end);
  for (size_t m = 0; m < changes_.size(); ++m) change(m, State::absent);
}

void Sweep::pass_until(Time time) {
  const Step last = steps_.back();
  if (time == last.time) return;
  const double passed = static_cast<double>((time - last.time).nanos());
  double potential = last.potential;
  if (idle() > 0) {
    crew_.idle_s += passed * static_cast<double>(idle()) * 1e-9;
    if (count(State::work) > 0) {
      potential += passed * static_cast<double>(idle()) / static_cast<double>(count(State::work));
    } else {
      size_t reason = 0;
      while (reason + 1 < kNobodyReasons && count(kReasonStates[reason]) == 0) ++reason;
      crew_.nobody_team_s[reason] += passed * static_cast<double>(count(State::team)) * 1e-9;
      crew_.nobody_pool_s[reason] += passed * static_cast<double>(count(State::pool)) * 1e-9;
    }
  }
  steps_.push_back({time, potential});
}

void Sweep::change(size_t member, State state) {
  State& now = states_[member];
  if (now == state) return;
  const Step& here = steps_.back();
  if (now == State::work) {
    WorkSpan& span = spans_[member].back();
    span.end = here.time;
    span.earned_after = here.potential;
    span.end_step = steps_.size();
  }
  if (state == State::work) {
    spans_[member].push_back(
        {here.time, here.time, here.potential, here.potential, steps_.size() - 1, 0});
  }
  --count(now);
  ++count(state);
  now = state;
}

double Sweep::potential_at(Time time, const WorkSpan& span) const {
  const auto first = steps_.begin() + static_cast<long>(span.first_step);
  const auto end = steps_.begin() + static_cast<long>(span.end_step);
  const auto after =
      std::upper_bound(first, end, time, [](Time t, const Step& step) { return t < step.time; });
  if (after == end) return span.earned_after;
  const Step& before = *(after - 1);
  const double part = static_cast<double>((time - before.time).nanos()) /
                      static_cast<double>((after->time - before.time).nanos());
  return before.potential + part * (after->potential - before.potential);
}

/// Gives what a member's work earned to its call paths. Spans and activities are in order of time.
void Sweep::share(size_t member) {
  const LocationId id = crew_.members[member];
  const replay::Activities& all = run_.at(id).activities;
  size_t i = 0;
  for (const WorkSpan& span : spans_[member]) {
    if (span.earned_after <= span.earned_before) continue;
    while (all.end(i) <= span.begin) ++i;
    double before = span.earned_before;
    for (; all.end(i) < span.end; ++i) {
      const double after = potential_at(all.end(i), span);
      sums_.add(all.path(i), after - before);
      before = after;
    }
    sums_.add(all.path(i), span.earned_after - before);
  }
  sums_.move_to(id, earned_);
}

/// Threads of each process, joined where one was in a team of another's.
std::vector<IdleBlame::Crew> find_crews(const Run& run) {
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
  std::vector<IdleBlame::Crew> crews;
  for (auto& list : members) {
    if (list.size() > 1) crews.push_back({std::move(list)});
  }
  return crews;
}

}  // namespace

IdleBlame blame_for_idleness(const Run& run, const WaitGraph& graph, unsigned threads) {
  const std::vector<PathKind> kinds = path_kinds(run);
  IdleBlame result;
  result.crews = find_crews(run);
  std::vector<std::vector<IdleBlame::Earned>> earned(result.crews.size());
  parallel_for(
      result.crews.size(), threads, [&] { return EarnedSums(run.callpaths.size()); },
      [&](size_t c, EarnedSums& sums) {
        Sweep(run, graph, kinds, sums, result.crews[c], earned[c]).run();
      });
  for (const auto& rows : earned) {
    result.earned.insert(result.earned.end(), rows.begin(), rows.end());
  }
  return result;
}

}  // namespace culprit::blame
