// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Four passes. Where each waiter and its cause met last: parallel over waiters. Excess vectors:
// parallel over the late locations, because many waiters often wait for the same work. Propagation
// (propagation.cpp): one walk over all waits from the latest to the earliest, scalars only. Costs:
// parallel over the late locations.
#include "blame/delay.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <tuple>

#include "base/flat_map.h"
#include "base/merge_runs.h"
#include "base/parallel.h"
#include "blame/guests.h"
#include "blame/meetings.h"
#include "blame/propagation.h"

namespace culprit::blame {

namespace {

using replay::Run;
using replay::Sync;
using replay::Wait;
using replay::WaitGraph;

using PatternSums = std::array<double, replay::kPatterns.size()>;

class Delays {
 public:
  Delays(const Run& run, WaitGraph& graph, const std::vector<PathTimes>& times, unsigned threads)
      : run_(run), graph_(graph), times_(times), threads_(threads) {
    result_.causes.resize(run.timelines.size());
    result_.caused.resize(run.timelines.size());
    result_.excess.resize(run.timelines.size());
    if (!run.ranks->alone()) guests_.emplace(run, graph);
  }

  void find_meetings();
  void measure();
  void propagate();
  void sum_costs();
  DelayAnalysis take() { return std::move(result_); }

 private:
  struct Scratch {
    explicit Scratch(const Run& run) : own(run.callpaths.size()), late(run.callpaths.size()) {}
    PathSums own, late;
    Time late_begin, late_end;  ///< the interval that `late` holds the times of
    size_t late_last = 0;       ///< the activity at its end
    size_t begin_wait = 0;      ///< the first wait of the late location that begins at or after it
    size_t end_wait = 0;        ///< the first wait of the late location that ends after it
    size_t instance = 0;        ///< where the instance looked up last stands in its index
  };

  void find_meetings_of(LocationId id, Meetings& meetings);
  void list_caused();
  void index_instances();
  static void index_instances_of(const Column<Sync>& syncs, Column<uint32_t>& index);
  Time exit_of(LocationId id, const Sync& meeting, size_t& place) const;
  void measure_caused_by(LocationId late, Scratch& scratch);
  void measure_excess(WaitRef ref, Time begin, Scratch& scratch);
  void find_inner_waits(const Wait& wait, Time begin, size_t& end, WaitCause& cause);
  void sum_costs_of(LocationId late, std::vector<DelayCost>& costs, PatternSums& lost) const;

  const Wait& wait(WaitRef ref) const { return graph_.waits[ref.location.index()][ref.wait]; }
  WaitCause& cause(WaitRef ref) { return result_.causes[ref.location.index()][ref.wait]; }
  const WaitCause& cause(WaitRef ref) const {
    return result_.causes[ref.location.index()][ref.wait];
  }
  /// The end of the interval on the late location.
  static Time interval_end(const Wait& wait) { return std::min(wait.cause_time, wait.end); }

  const Run& run_;
  WaitGraph& graph_;
  const std::vector<PathTimes>& times_;
  unsigned threads_;
  std::optional<Guests> guests_;                  // if there are other ranks
  std::vector<Column<Sync>> meetings_;            // by LocationId of the waiter, by its waits
  std::vector<Column<uint32_t>> instances_;       // by LocationId: its syncs in groups, by instance
  std::vector<Column<Duration>> waiting_before_;  // by LocationId: running sums of its waits
  DelayAnalysis result_;
};

// --- intervals --------------------------------------------------------------------------------

void Delays::find_meetings() {
  meetings_.resize(run_.timelines.size());
  waiting_before_.resize(run_.timelines.size());
  parallel_for(
      run_.locations.size(), threads_, [&] { return Meetings(graph_.groups); },
      [&](size_t i, Meetings& meetings) { find_meetings_of(run_.locations[i], meetings); });
  if (guests_) guests_->invite(times_, meetings_, threads_);
  list_caused();
}

/// What own locations caused, guests among it.
void Delays::list_caused() {
  for (size_t id = 0; id < run_.timelines.size(); ++id) {
    const Column<Wait>& waits = graph_.waits[id];
    result_.causes[id].resize(waits.size());
    for (uint32_t w = 0; w < waits.size(); ++w) {
      if (guests_ && !run_.owns(waits[w].cause)) continue;
      result_.caused[waits[w].cause.index()].push_back({LocationId(id), w});
    }
  }
}

void Delays::find_meetings_of(LocationId id, Meetings& meetings) {
  const Column<Wait>& waits = graph_.waits[id.index()];
  const Column<Sync>& syncs = graph_.syncs[id.index()];
  meetings.start(run_.begin);
  meetings_[id.index()].reserve(waits.size());
  Column<Duration>& before = waiting_before_[id.index()];
  before.reserve(waits.size() + 1);
  before.push_back(Duration::zero());
  size_t next = 0;
  for (const Wait& wait : waits) {
    // A point counts once its operation is over; the wait's own operation is not.
    while (next < syncs.size() && syncs[next].exit() <= wait.begin) meetings.add(syncs[next++]);
    meetings_[id.index()].push_back(meetings.last(wait.cause));
    before.push_back(before.back() + wait.amount);
  }
}

/// So that a location finds its own part in what it and another took part in.
void Delays::index_instances() {
  instances_.resize(run_.timelines.size());
  parallel_for(run_.locations.size(), threads_, [&](size_t i) {
    const LocationId id = run_.locations[i];
    index_instances_of(graph_.syncs[id.index()], instances_[id.index()]);
  });
}

/// By group, and within a group, where they come in order of time, by instance.
void Delays::index_instances_of(const Column<Sync>& syncs, Column<uint32_t>& index) {
  FlatMap place_of;
  std::vector<std::pair<replay::GroupId, uint32_t>> groups;  // and how many instances
  for (const Sync& sync : syncs) {
    if (!sync.of_group()) continue;
    const uint32_t fresh = static_cast<uint32_t>(groups.size());
    const uint32_t place = place_of.at(sync.group().index(), fresh);
    if (place == fresh) groups.emplace_back(sync.group(), 0);
    ++groups[place].second;
  }
  std::vector<uint32_t> by_id(groups.size()), next(groups.size());
  std::iota(by_id.begin(), by_id.end(), 0u);
  std::sort(by_id.begin(), by_id.end(),
            [&](uint32_t a, uint32_t b) { return groups[a] < groups[b]; });
  uint32_t sum = 0;
  for (uint32_t place : by_id) next[place] = sum, sum += groups[place].second;
  index.resize(sum);
  for (uint32_t s = 0; s < syncs.size(); ++s) {
    if (syncs[s].of_group()) index[next[place_of.find(syncs[s].group().index())]++] = s;
  }
  const auto earlier = [&](uint32_t a, uint32_t b) {
    return syncs[a].instance() < syncs[b].instance();
  };
  for (uint32_t place : by_id) {
    uint32_t* const end = index.begin() + next[place];
    merge_runs(end - groups[place].second, end, earlier);
  }
}

/// `place` is where the last one was found; the next is often near.
Time Delays::exit_of(LocationId id, const Sync& meeting, size_t& place) const {
  if (!meeting.of_group()) return meeting.partner_exit();
  const Column<Sync>& syncs = graph_.syncs[id.index()];
  const Column<uint32_t>& index = instances_[id.index()];
  const auto key = std::tuple(meeting.group(), meeting.instance());
  const auto is_before = [&](uint32_t s, const auto& k) {
    return std::tuple(syncs[s].group(), syncs[s].instance()) < k;
  };
  constexpr size_t kNear = 4;
  for (size_t n = 0; n < kNear; ++n, ++place) {
    if (place >= index.size() || !is_before(index[place], key)) break;
  }
  const bool found = place < index.size() && syncs[index[place]].instance() == meeting.instance() &&
                     syncs[index[place]].group() == meeting.group();
  if (!found) {
    place = static_cast<size_t>(std::lower_bound(index.begin(), index.end(), key, is_before) -
                                index.begin());
  }
  CULPRIT_CHECK(place < index.size() && syncs[index[place]].instance() == meeting.instance());
  return syncs[index[place]].exit();
}

// --- excess -----------------------------------------------------------------------------------

void Delays::measure() {
  index_instances();
  parallel_for(
      run_.locations.size(), threads_, [&] { return Scratch(run_); },
      [&](size_t i, Scratch& scratch) { measure_caused_by(run_.locations[i], scratch); });
  if (guests_) {
    guests_->tell_waiters([&](WaitRef guest) { return cause(guest); },
                          [&](WaitRef ref, const WaitCause& found) {
                            cause(ref) = found;
                            cause(ref).first_excess = cause(ref).end_excess = 0;  // not here
                          });
  }
  meetings_.clear();
  instances_.clear();
  waiting_before_.clear();
}

void Delays::measure_caused_by(LocationId late, Scratch& scratch) {
  Column<WaitRef>& caused = result_.caused[late.index()];
  // Who waits for the same moment is next to each other.
  merge_runs(caused.begin(), caused.end(),
             [&](WaitRef a, WaitRef b) { return interval_end(wait(a)) < interval_end(wait(b)); });
  scratch.late.clear();
  scratch.late_begin = scratch.late_end = Time::min();
  scratch.late_last = scratch.begin_wait = scratch.end_wait = scratch.instance = 0;
  for (WaitRef ref : caused) {
    const Time begin = exit_of(late, meetings_[ref.location.index()][ref.wait], scratch.instance);
    measure_excess(ref, begin, scratch);
    find_inner_waits(wait(ref), begin, scratch.end_wait, cause(ref));
  }
}

/// Excess vector: what the late location did more than the waiter (equations 4.1 and 4.2).
void Delays::measure_excess(WaitRef ref, Time begin, Scratch& scratch) {
  const Wait& w = wait(ref);
  const Time end = interval_end(w);
  if (scratch.late_begin != begin || scratch.late_end != end) {
    scratch.late.clear();
    // Ends come in ascending order.
    scratch.late_last = run_.at(w.cause).activities.after(end, scratch.late_last);
    const Column<Wait>& inner = graph_.waits[w.cause.index()];
    size_t& next = scratch.begin_wait;
    while (next < inner.size() && inner[next].begin < end) ++next;
    times_[w.cause.index()].sum_back(begin, end, scratch.late_last, scratch.begin_wait,
                                     scratch.late);
    scratch.late_begin = begin, scratch.late_end = end;
  }
  if (guests_ && guests_->is_guest(ref)) {
    for (const Excess& done : guests_->done_by(ref)) scratch.own.add(done.path(), done.time());
  } else {
    times_[ref.location.index()].sum_back(meetings_[ref.location.index()][ref.wait].exit(), w.begin,
                                          w.activity, ref.wait, scratch.own);
  }
  WaitCause& c = cause(ref);
  Column<Excess>& excess = result_.excess[w.cause.index()];
  c.first_excess = static_cast<uint32_t>(excess.size());
  for (CallPathId path : scratch.late.paths()) {
    const Duration more = scratch.late[path] - scratch.own[path];
    if (more <= Duration::zero()) continue;
    excess.push_back(Excess(more, path));
    c.excess += more;
  }
  CULPRIT_CHECK(excess.size() < UINT32_MAX);
  c.end_excess = static_cast<uint32_t>(excess.size());
  scratch.own.clear();
}

void Delays::find_inner_waits(const Wait& wait, Time begin, size_t& end, WaitCause& cause) {
  const Column<Wait>& inner = graph_.waits[wait.cause.index()];
  const Time until = interval_end(wait);
  while (end < inner.size() && inner[end].end <= until) ++end;
  // Few lie inside, mostly.
  size_t first = end;
  for (size_t n = 0; n < 8 && first > 0 && inner[first - 1].begin >= begin; ++n) --first;
  if (first > 0 && inner[first - 1].begin >= begin) {
    first =
        static_cast<size_t>(std::lower_bound(inner.begin(), inner.begin() + first, begin,
                                             [](const Wait& x, Time t) { return x.begin < t; }) -
                            inner.begin());
  }
  cause.first_wait = static_cast<uint32_t>(first);
  cause.end_wait = static_cast<uint32_t>(end);
  const Column<Duration>& before = waiting_before_[wait.cause.index()];
  cause.waiting = before[cause.end_wait] - before[cause.first_wait];
}

// --- propagation ------------------------------------------------------------------------------

void Delays::propagate() {
  propagate_waits(run_, graph_, result_.causes, threads_);
  if (guests_) {
    guests_->tell_guests([&](WaitRef ref) { return cause(ref); },
                         [&](WaitRef guest, const WaitCause& from) {
                           WaitCause& to = cause(guest);
                           const WaitCause here = to;
                           to = from;
                           to.first_excess = here.first_excess, to.end_excess = here.end_excess;
                         });
  }
}

// --- costs ------------------------------------------------------------------------------------

void Delays::sum_costs_of(LocationId late, std::vector<DelayCost>& costs, PatternSums& lost) const {
  FlatMap row_of;
  const Column<Excess>& excess = result_.excess[late.index()];
  for (WaitRef ref : result_.caused[late.index()]) {
    const Wait& w = wait(ref);
    const WaitCause& c = cause(ref);
    const double amount = w.amount.seconds();
    const double denominator = c.denominator_s();
    if (denominator <= 0) {
      lost[static_cast<size_t>(w.pattern)] += amount + c.long_s;
      continue;
    }
    for (uint32_t e = c.first_excess; e < c.end_excess; ++e) {
      const uint64_t key =
          uint64_t{excess[e].path().index()} << 8 | static_cast<uint8_t>(w.pattern);
      const uint32_t row = row_of.at(key, static_cast<uint32_t>(costs.size()));
      if (row == costs.size()) costs.push_back({late, excess[e].path(), w.pattern, 0, 0});
      const double share = excess[e].time().seconds() / denominator;
      costs[row].short_s += share * amount;
      costs[row].long_s += share * c.long_s;
    }
  }
}

void Delays::sum_costs() {
  std::vector<std::vector<DelayCost>> costs(run_.timelines.size());
  std::vector<PatternSums> lost(run_.timelines.size());
  parallel_for(run_.locations.size(), threads_, [&](size_t i) {
    const size_t l = run_.locations[i].index();
    sum_costs_of(run_.locations[i], costs[l], lost[l]);
  });
  std::vector<double> all_lost(replay::kPatterns.size());
  for (size_t i = 0; i < costs.size(); ++i) {
    result_.costs.insert(result_.costs.end(), costs[i].begin(), costs[i].end());
    for (size_t p = 0; p < all_lost.size(); ++p) all_lost[p] += lost[i][p];
  }
  replay::add_up(*run_.ranks, all_lost);
  for (size_t p = 0; p < all_lost.size(); ++p) {
    if (all_lost[p] > 0) result_.unattributed.push_back({replay::Pattern(p), all_lost[p]});
  }
}

}  // namespace

DelayAnalysis analyze_delays(const Run& run, WaitGraph& graph, const std::vector<PathTimes>& times,
                             unsigned threads) {
  Delays delays(run, graph, times, threads);
  delays.find_meetings();
  delays.measure();
  delays.propagate();
  delays.sum_costs();
  return delays.take();
}

}  // namespace culprit::blame
