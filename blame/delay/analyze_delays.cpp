// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Four passes. Where each waiter and its cause met last (intervals.cpp): parallel over waiters.
// Excess vectors: parallel over the late locations, because many waiters often wait for the same
// work. Propagation (propagation.cpp): each location by itself, from its latest wait to the
// earliest, scalars only. Costs: parallel over the late locations.
//
// The waits for a late location are scattered over the waiters' lists. They are visited once, when
// the excess is found; what later passes need of them then stands in order (CausedWait).
#include "blame/delay/analyze_delays.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <span>

#include "base/merge_runs.h"
#include "base/parallel.h"
#include "base/progress/progress.h"
#include "blame/delay/delay_costs.h"
#include "blame/delay/intervals.h"
#include "blame/delay/moments.h"
#include "blame/delay/propagation.h"
#include "blame/delay/remote_waits.h"
#include "blame/delay/waiting_sums.h"

namespace culprit::blame {

namespace {

using replay::Run;
using replay::Wait;
using replay::WaitGraph;

/// A wait, and the end of its synchronisation interval on the late location.
struct Ended {
  Time end;
  WaitRef wait;
};

class Delays {
 public:
  Delays(const Run& run, WaitGraph& graph, const std::vector<PathTimes>& times, unsigned threads,
         const ShareExcess& share)
      : run_(run), graph_(graph), times_(times), threads_(threads), share_(share) {
    result_.causes.resize(run.timelines.size());
    result_.caused.resize(run.timelines.size());
    result_.excess.resize(run.timelines.size());
    result_.shared.resize(run.timelines.size());
    result_.tied.resize(run.timelines.size());
    result_.number.resize(run.timelines.size());
    result_.cuts.resize(run.timelines.size());
    result_.tied_to.resize(run.timelines.size());
    result_.polling_s.resize(run.timelines.size());
    for (LocationId id : run.locations) share_ties(id);
    if (!run.ranks->alone()) remote_waits_.emplace(run, graph);
  }

  void find_intervals();
  void measure();
  void propagate();
  void sum_costs();
  DelayAnalysis take() { return std::move(result_); }

 private:
  /// An interval on the late location, and what it did there.
  struct Late {
    explicit Late(const Run& run) : sums(run.callpaths.size()) {}
    PathSums sums;
    Time begin, end;
    bool is_measured = false;  ///< what is in `sums`
    Duration waiting;
    uint32_t first_wait = 0, end_wait = 0;  ///< its waits that reach into it
    Duration first_part, last_part;
  };
  /// Working memory for one late location, whose waits are visited in the order in which intervals
  /// end.
  struct Scratch {
    explicit Scratch(const Run& run)
        : own(run.callpaths.size()), part(run.callpaths.size()), late(run) {}
    Column<Ended> order;
    PathSums own, part;
    Late late;
    size_t late_last = 0;   ///< the activity at the interval's end
    size_t begin_wait = 0;  ///< the first wait of the late location that begins at or after it
    size_t room = 0;        ///< entries that long excess vectors may still have
    std::optional<PathClock> clock;  ///< made once there is no room
  };

  void share_ties(LocationId id);
  void list_caused();
  void list_caused_by(std::span<const LocationId> waiters, std::vector<Column<Ended>>& lists);
  void number_caused();
  void gather(LocationId late, Column<Ended>& order);
  void measure_caused_by(LocationId late, Scratch& scratch);
  void move_interval(LocationId late, Time begin, Time end, const WaitingSums& waiting,
                     Scratch& scratch) const;
  void measure_late(LocationId late, Scratch& scratch) const;
  bool is_long(LocationId late, const Scratch& scratch) const;
  void find_inner_waits(LocationId late, const WaitingSums& waiting, Scratch& scratch) const;
  Duration part_inside(LocationId late, const Wait& wait, Scratch& scratch) const;
  void measure_own(WaitRef ref, Time begin, PathSums& own) const;
  void compare_waiting(Time wait_begin, Time begin, const Scratch& scratch,
                       CausedWait& caused) const;
  void add_inner(LocationId late, const Late& interval, CausedWait& caused);
  void add_tie(LocationId late, CausedWait& caused);
  bool share(LocationId late, CausedWait& caused, Scratch& scratch);
  void subtract(LocationId late, CausedWait& caused, Scratch& scratch);

  const Wait& wait(WaitRef ref) const { return graph_.wait(ref.location, ref.wait); }
  /// Returns the wait that a tie belongs to.
  uint32_t wait_of(WaitRef ref) const {
    const size_t id = ref.location.index(), waits = graph_.waits[id].size();
    return ref.wait < waits ? ref.wait : result_.tied[id][ref.wait - waits];
  }
  WaitCause& cause(WaitRef ref) { return result_.causes[ref.location.index()][ref.wait]; }
  bool is_remote(WaitRef ref) const { return remote_waits_ && remote_waits_->is_remote(ref); }

  const Run& run_;
  WaitGraph& graph_;
  const std::vector<PathTimes>& times_;
  unsigned threads_;
  const ShareExcess share_;
  std::optional<RemoteWaits> remote_waits_;  // if there are other ranks
  std::optional<Intervals> intervals_;       // of this rank's waiters
  /// By part of the waiters, by LocationId of the cause.
  std::vector<std::vector<Column<Ended>>> caused_;
  std::array<PatternSums, Words<Unattributed>::kSpelled.size()> lost_{};  // by Unattributed
  DelayAnalysis result_;
};

// --- ties -------------------------------------------------------------------------------------

/// Computes the share of a wait that each late location has.
void Delays::share_ties(LocationId id) {
  const Column<Wait>& waits = graph_.waits[id.index()];
  Column<Wait>& ties = graph_.ties[id.index()];
  Column<WaitCause>& causes = result_.causes[id.index()];
  Column<uint32_t>& tied = result_.tied[id.index()];
  const auto count = static_cast<uint32_t>(waits.size());
  size_t kept = 0, tie = 0;
  for (uint32_t w = 0; w < count; ++w) {
    while (tie < ties.size() && ties[tie].begin < waits[w].begin)
      ++tie;  // ties of dropped waits are skipped
    for (; tie < ties.size() && ties[tie].begin == waits[w].begin; ++tie) {
      ties[kept++] = ties[tie];
      tied.push_back(w);
    }
  }
  ties.resize(kept);
  causes.resize(waits.size() + ties.size());
  for (size_t i = 0; i < kept;) {
    const uint32_t w = tied[i];
    size_t end = i;
    while (end < kept && tied[end] == w) ++end;
    const double part = 1 / static_cast<double>(end - i + 1);
    double others_s = 0;
    for (; i < end; ++i) {
      causes[waits.size() + i].share = part;
      others_s += part * ties[i].amount.seconds();
    }
    causes[w].share = 1 - others_s / waits[w].amount.seconds();
  }
}

// --- intervals --------------------------------------------------------------------------------

void Delays::find_intervals() {
  intervals_.emplace(run_, graph_, threads_);
  if (remote_waits_) remote_waits_->send_to_causes(times_, *intervals_, result_, threads_);
  list_caused();
  number_caused();
}

/// Lists the waits that own locations caused, including remote ones: each thread lists a part of
/// the waiters.
void Delays::list_caused() {
  std::vector<LocationId> waiters;
  for (size_t id = 0; id < run_.timelines.size(); ++id) {
    if (!graph_.waits[id].empty())
      waiters.push_back(LocationId(id));  // a location with ties has waits
  }
  const size_t parts = thread_count(threads_);
  caused_.resize(parts);
  parallel_for(parts, threads_, [&](size_t part) {
    const size_t begin = waiters.size() * part / parts;
    const size_t end = waiters.size() * (part + 1) / parts;
    caused_[part].resize(run_.timelines.size());
    list_caused_by({waiters.data() + begin, end - begin}, caused_[part]);
  });
}

void Delays::list_caused_by(std::span<const LocationId> waiters,
                            std::vector<Column<Ended>>& lists) {
  for (LocationId id : waiters) {
    const size_t all = graph_.waits[id.index()].size() + graph_.ties[id.index()].size();
    for (uint32_t w = 0; w < all; ++w) {
      const Wait& each = wait({id, w});
      if (remote_waits_ && !run_.owns(each.cause)) continue;
      lists[each.cause.index()].push_back({each.end, {id, w}});
    }
  }
}

/// All that this rank explains have a number: those of a location follow each other.
void Delays::number_caused() {
  size_t next = 0;
  for (LocationId late : run_.locations) {
    result_.number[late.index()] = static_cast<uint32_t>(next);
    for (const std::vector<Column<Ended>>& part : caused_) next += part[late.index()].size();
  }
  CULPRIT_CHECK(next < UINT32_MAX);
}

/// Gathers all waits that `late` caused. Waits that end at the same moment become neighbours.
void Delays::gather(LocationId late, Column<Ended>& order) {
  order.clear();
  for (std::vector<Column<Ended>>& part : caused_) {
    Column<Ended>& some = part[late.index()];
    for (const Ended& ended : some) order.push_back(ended);
    some.release();
  }
  merge_runs(order.begin(), order.end(),
             [](const Ended& a, const Ended& b) { return a.end < b.end; });
}

// --- excess -----------------------------------------------------------------------------------

void Delays::measure() {
  progress::Progress progress(progress::Stage::delays, run_.locations.size());
  parallel_for(
      run_.locations.size(), threads_, [&] { return Scratch(run_); },
      [&](size_t i, Scratch& scratch) {
        measure_caused_by(run_.locations[i], scratch);
        progress.step();
      });
  if (remote_waits_) {
    remote_waits_->send_to_waiters([&](WaitRef ref, const WaitCause& found) {
      const double share = cause(ref).share;
      cause(ref) = found;
      cause(ref).share = share;
    });
  }
  caused_.clear();
  intervals_.reset();
  graph_.syncs.clear();  // no later pass needs them
}

void Delays::measure_caused_by(LocationId late, Scratch& scratch) {
  gather(late, scratch.order);
  const WaitingSums waiting(graph_.waits[late.index()]);
  scratch.late.begin = scratch.late.end = Time::min();
  scratch.late_last = scratch.begin_wait = 0;
  const size_t linear = run_.at(late).activities.size() + scratch.order.size();
  scratch.room = static_cast<size_t>(share_.written * static_cast<double>(linear));
  scratch.clock.reset();
  Column<CausedWait>& caused = result_.caused[late.index()];
  Column<Excess>& excess = result_.excess[late.index()];
  caused.reserve(scratch.order.size());
  for (const auto& [end, ref] : scratch.order) {
    const Wait& w = wait(ref);
    const Time begin = is_remote(ref) ? remote_waits_->interval_begin(ref) : intervals_->begin(ref);
    if (scratch.late.begin != begin || scratch.late.end != end) {
      move_interval(late, begin, end, waiting, scratch);
    }
    measure_own(ref, begin, scratch.own);
    CausedWait c{.ref = ref, .end = end, .amount = w.amount, .pattern = w.pattern};
    c.share = is_remote(ref) ? remote_waits_->share(ref) : cause(ref).share;
    compare_waiting(w.begin, begin, scratch, c);
    add_inner(late, scratch.late, c);
    add_tie(late, c);
    c.first_excess = static_cast<uint32_t>(excess.size());
    if (!share(late, c, scratch)) subtract(late, c, scratch);
    c.end_excess = static_cast<uint32_t>(excess.size());
    scratch.own.clear();
    const WaitCause found{
        .late = c.late,
        .share = c.share,
        .number = result_.number[late.index()] + static_cast<uint32_t>(caused.size())};
    is_remote(ref) ? remote_waits_->found(ref, found) : void(cause(ref) = found);
    caused.push_back(c);
  }
  CULPRIT_CHECK(excess.size() < UINT32_MAX);
}

/// Notes the late location's waits in the interval.
void Delays::add_inner(LocationId late, const Late& interval, CausedWait& caused) {
  caused.first_wait = interval.first_wait;
  caused.end_wait = interval.end_wait;
  if (caused.first_wait == caused.end_wait) return;
  const Column<Wait>& inner = graph_.waits[late.index()];
  const bool one = caused.end_wait - caused.first_wait == 1;
  caused.is_cut = interval.first_part != inner[caused.first_wait].amount ||
                  (!one && interval.last_part != inner[caused.end_wait - 1].amount);
  if (!caused.is_cut) return;
  const auto place = static_cast<uint32_t>(result_.caused[late.index()].size());
  result_.cuts[late.index()].push_back({place, interval.first_part, interval.last_part});
}

/// Notes the wait that a tie belongs to.
void Delays::add_tie(LocationId late, CausedWait& caused) {
  const WaitRef ref = caused.ref;
  const auto place = static_cast<uint32_t>(result_.caused[late.index()].size());
  if (is_remote(ref)) {
    const RemoteShare* shared = remote_waits_->find_share(ref);
    if (shared == nullptr || !shared->is_tie) return;
    result_.tied_to[late.index()].push_back({place, shared->end, shared->amount});
  } else {
    const Column<Wait>& waits = graph_.waits[ref.location.index()];
    if (ref.wait < waits.size()) return;
    const Wait& whole = waits[wait_of(ref)];
    result_.tied_to[late.index()].push_back({place, whole.end, whole.amount});
  }
  caused.is_tie = true;
}

void Delays::move_interval(LocationId late, Time begin, Time end, const WaitingSums& waiting,
                           Scratch& scratch) const {
  const Column<Wait>& inner = graph_.waits[late.index()];
  // Ends come in ascending order.
  scratch.late_last = run_.at(late).activities.after(end, scratch.late_last);
  size_t& next = scratch.begin_wait;
  while (next < inner.size() && inner[next].begin < end) ++next;
  scratch.late.begin = begin, scratch.late.end = end;
  scratch.late.is_measured = false;
  find_inner_waits(late, waiting, scratch);
}

void Delays::measure_late(LocationId late, Scratch& scratch) const {
  Late& to = scratch.late;
  to.sums.clear();
  times_[late.index()].sum_back(to.begin, to.end, scratch.late_last, scratch.begin_wait, to.sums);
  to.is_measured = true;
}

/// Finds the late location's own waits that overlap the interval, and their time inside it. All but
/// the first and the last lie inside as a whole.
void Delays::find_inner_waits(LocationId id, const WaitingSums& waiting, Scratch& scratch) const {
  const Column<Wait>& inner = graph_.waits[id.index()];
  Late& late = scratch.late;
  const size_t end = scratch.begin_wait;
  // Mostly few waits lie inside.
  size_t first = end;
  for (size_t n = 0; n < 8 && first > 0 && inner[first - 1].end > late.begin; ++n) --first;
  if (first > 0 && inner[first - 1].end > late.begin) {
    first = static_cast<size_t>(
        std::partition_point(inner.begin(), inner.begin() + first,
                             [&](const Wait& wait) { return wait.end <= late.begin; }) -
        inner.begin());
  }
  late.first_wait = static_cast<uint32_t>(first);
  late.end_wait = static_cast<uint32_t>(end);
  late.first_part = late.last_part = late.waiting = Duration::zero();
  if (first == end) return;
  late.waiting = late.first_part = part_inside(id, inner[first], scratch);
  if (end - first == 1) return;
  late.last_part = part_inside(id, inner[end - 1], scratch);
  late.waiting += late.last_part + waiting.between(first + 1, end - 1);
}

/// Returns the part of a wait that lies in the interval.
Duration Delays::part_inside(LocationId id, const Wait& wait, Scratch& scratch) const {
  const Time begin = std::max(wait.begin, scratch.late.begin);
  const Time end = std::min(wait.end, scratch.late.end);
  if (begin == wait.begin && end == wait.end) return wait.amount;
  Duration part = end - begin;
  if (wait.amount == wait.end - wait.begin) return part;
  scratch.part.clear();
  times_[id.index()].sum(begin, end, scratch.part);  // tasks
  for (CallPathId path : scratch.part.paths()) part -= scratch.part[path];
  return part;
}

/// Measures the waiter's own time by call path since the last synchronisation.
void Delays::measure_own(WaitRef ref, Time begin, PathSums& own) const {
  if (is_remote(ref)) {
    for (const Excess& done : remote_waits_->done_by(ref)) own.add(done.path(), done.time());
  } else {
    const Wait& w = wait(ref);
    times_[ref.location.index()].sum_back(begin, w.begin, w.activity, wait_of(ref), own);
  }
}

/// Subtracts the waiter's own waiting since the last synchronisation, before this wait: it held up
/// both sides (decision 0020).
void Delays::compare_waiting(Time wait_begin, Time begin, const Scratch& scratch,
                             CausedWait& caused) const {
  const Duration late = scratch.late.waiting;
  Duration own = wait_begin - begin;
  for (CallPathId path : scratch.own.paths()) own -= scratch.own[path];
  caused.late.waiting = std::clamp(late - own, Duration::zero(), late);
  if (late > Duration::zero()) caused.more = caused.late.waiting.seconds() / late.seconds();
}

bool Delays::is_long(LocationId late, const Scratch& scratch) const {
  const size_t first = run_.at(late).activities.after_back(scratch.late.begin, scratch.late_last);
  return scratch.late_last - first >= share_.activities;
}

/// Where excess vectors become longer than their inputs: keeps the vector as a whole interval and
/// the entries to subtract. Not if next to nothing were left: the rest of a large sum would be
/// rounding.
bool Delays::share(LocationId late, CausedWait& caused, Scratch& scratch) {
  if (scratch.room > 0 || scratch.late.is_measured || !is_long(late, scratch)) return false;
  if (!scratch.clock) scratch.clock.emplace(run_, late, graph_.waits[late.index()]);
  const auto [begin, end] = std::pair(scratch.late.begin, scratch.late.end);
  const Duration all = scratch.clock->time(begin, end);
  Column<Excess>& excess = result_.excess[late.index()];
  Duration more = all;
  for (CallPathId path : scratch.own.paths()) {
    const Duration both = std::min(scratch.own[path], scratch.clock->time(path, begin, end));
    if (both <= Duration::zero()) continue;
    more -= both;
    excess.push_back(Excess(both, path));
  }
  constexpr double kLeast = 1e-3;
  if (more <= Duration::zero() || more.seconds() < kLeast * all.seconds()) {
    excess.resize(caused.first_excess, Excess(Duration::zero(), CallPathId::none()));
    return false;
  }
  caused.late.excess = more;
  const auto place = static_cast<uint32_t>(result_.caused[late.index()].size());
  result_.shared[late.index()].push_back({begin, end, place});
  return true;
}

/// Computes the excess vector: the time of the late location in excess of the waiter's (equations
/// 4.1 and 4.2).
void Delays::subtract(LocationId late, CausedWait& caused, Scratch& scratch) {
  if (!scratch.late.is_measured) measure_late(late, scratch);
  const PathSums& sums = scratch.late.sums;
  Column<Excess>& excess = result_.excess[late.index()];
  for (CallPathId path : sums.paths()) {
    const Duration more = sums[path] - scratch.own[path];
    if (more <= Duration::zero()) continue;
    excess.push_back(Excess(more, path));
    caused.late.excess += more;
  }
  constexpr size_t kFew = 32;
  const size_t paths = sums.paths().size();
  if (paths > kFew) scratch.room -= std::min(scratch.room, paths);
}

// --- propagation ------------------------------------------------------------------------------

void Delays::propagate() {
  PatternSums& circular = lost_[static_cast<size_t>(Unattributed::circular)];
  const Moments moments = find_moments(run_, graph_, result_);
  circular = propagate_waits(run_, graph_, result_, moments, Followed::waiting);
  const auto polls = [](const Column<replay::Polling>& list) { return !list.empty(); };
  const bool own = std::any_of(graph_.pollings.begin(), graph_.pollings.end(), polls);
  if (sum(*run_.ranks, uint64_t{own}) == 0) return;
  const PatternSums of_polling = propagate_waits(run_, graph_, result_, moments, Followed::polling);
  circular[kPolling] += std::accumulate(of_polling.begin(), of_polling.end(), 0.0);
}

// --- costs ------------------------------------------------------------------------------------

void Delays::sum_costs() {
  std::vector<LocationCosts> costs(run_.timelines.size());
  parallel_for(run_.locations.size(), threads_, [&](size_t i) {
    const LocationId id = run_.locations[i];
    costs[id.index()] = sum_delay_costs(run_, graph_, result_, id);
  });
  PatternSums& unexplained = lost_[static_cast<size_t>(Unattributed::unexplained)];
  PatternSums& unknown = lost_[static_cast<size_t>(Unattributed::unknown_wait)];
  constexpr auto kStartSkew = static_cast<size_t>(replay::pattern("run.start_skew"));
  double& launch = lost_[static_cast<size_t>(Unattributed::launch)][kStartSkew];
  for (const LocationCosts& of_one : costs) {
    result_.costs.insert(result_.costs.end(), of_one.rows.begin(), of_one.rows.end());
    result_.polling_causes.insert(result_.polling_causes.end(), of_one.polling.begin(),
                                  of_one.polling.end());
    result_.unexplained_waits += of_one.unexplained_waits;
    launch += of_one.launch_s;
    for (size_t p = 0; p < unexplained.size(); ++p) {
      unexplained[p] += of_one.unexplained_s[p];
      unknown[p] += of_one.unknown_wait_s[p];
    }
  }
  for (size_t reason = 0; reason < lost_.size(); ++reason) {
    const PatternSums& own = lost_[reason];
    std::vector<double> all(own.begin(), own.end());
    add_up(*run_.ranks, all);
    for (size_t p = 0; p < all.size(); ++p) {
      if (all[p] <= 0) continue;
      result_.unattributed.push_back({replay::Pattern(p), Unattributed(reason), all[p]});
    }
  }
}

}  // namespace

DelayAnalysis analyze_delays(const Run& run, WaitGraph& graph, const std::vector<PathTimes>& times,
                             unsigned threads, const ShareExcess& share) {
  Delays delays(run, graph, times, threads, share);
  delays.find_intervals();
  delays.measure();
  delays.propagate();
  delays.sum_costs();
  return delays.take();
}

}  // namespace culprit::blame
