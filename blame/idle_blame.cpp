// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// For each crew: first each thread's changes of state, then one merge of these in order of time,
// which makes the potential, then what each stretch of work earned. Crews are independent.
#include "blame/idle_blame.h"

#include <algorithm>
#include <numeric>
#include <queue>

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

class Sweep {
 public:
  Sweep(const Run& run, const WaitGraph& graph, const std::vector<PathKind>& kinds,
        IdleBlame::Crew& crew, std::vector<IdleBlame::Earned>& earned)
      : run_(run), graph_(graph), kinds_(kinds), crew_(crew), earned_(earned) {}

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
  using Next = std::pair<Time, size_t>;  // of which member
  std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
  std::vector<size_t> next(changes_.size(), 0);
  states_.assign(changes_.size(), State::absent);
  count(State::absent) = changes_.size();
  steps_.push_back({run_.begin, 0});
  for (size_t m = 0; m < changes_.size(); ++m) {
    if (!changes_[m].empty()) queue.push({changes_[m][0].time, m});
  }
  while (!queue.empty()) {
    const auto [time, m] = queue.top();
    queue.pop();
    pass_until(time);
    change(m, changes_[m][next[m]].state);
    if (++next[m] < changes_[m].size()) queue.push({changes_[m][next[m]].time, m});
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

/// Gives what a member's work earned to its call paths.
void Sweep::share(size_t member) {
  const LocationId id = crew_.members[member];
  std::vector<IdleBlame::Earned> found;
  for (const WorkSpan& span : spans_[member]) {
    if (span.earned_after <= span.earned_before) continue;
    double before = span.earned_before;
    for_each_stretch(
        run_, id, {}, span.begin, span.end, [&](Time, Time end, CallPathId path, const Wait*) {
          const double after = end == span.end ? span.earned_after : potential_at(end, span);
          if (after > before) found.push_back({id, path, (after - before) * 1e-9});
          before = after;
        });
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.path < b.path; });
  for (const IdleBlame::Earned& row : found) {
    if (earned_.empty() || earned_.back().location != id || earned_.back().path != row.path) {
      earned_.push_back(row);
    } else {
      earned_.back().time_s += row.time_s;
    }
  }
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
    for (const replay::TeamSpan& team : run.at(id).teams) {
      if (!team.fork_location.valid() || !leader[team.fork_location.index()].valid()) continue;
      const LocationId a = find(id), b = find(team.fork_location);
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
  parallel_for(result.crews.size(), threads,
               [&](size_t c) { Sweep(run, graph, kinds, result.crews[c], earned[c]).run(); });
  for (const auto& rows : earned) {
    result.earned.insert(result.earned.end(), rows.begin(), rows.end());
  }
  return result;
}

}  // namespace culprit::blame
