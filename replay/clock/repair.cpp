// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Two passes over events in an order that respects all dependences: the forward pass delays events
// that are too early, and the backward pass smooths the steps without moving an event past a
// dependent one.
#include "replay/clock/repair.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>

#include "base/parallel.h"

namespace culprit::replay {

ExchangeId Precedence::add_exchange() {
  exchanges_.push_back({});
  return ExchangeId(exchanges_.size() - 1);
}

void Precedence::begins(ExchangeId exchange, ClockId clock, Time time) {
  ++exchanges_[exchange.index()].begins;
  points_.push_back({time, clock, exchange, false});
}

void Precedence::ends(ExchangeId exchange, ClockId clock, Time time) {
  points_.push_back({time, clock, exchange, true});
}

void Precedence::follows(ExchangeId earlier, ExchangeId later) {
  exchanges_[earlier.index()].next = later;
  ++exchanges_[later.index()].begins;
}

void Precedence::append(std::span<const Exchange> exchanges, std::span<const Point> points) {
  const size_t first = exchanges_.size();
  const auto renumbered = [first](ExchangeId id) {
    return id.valid() ? ExchangeId(first + id.index()) : id;
  };
  for (const Exchange& e : exchanges) exchanges_.push_back({e.begins, renumbered(e.next)});
  for (const Point& p : points) {
    points_.push_back({p.time, p.clock, renumbered(p.exchange), p.end, p.given_up});
  }
}

namespace {

using Point = Precedence::Point;
using Exchanges = Column<Precedence::Exchange>;
/// By ClockId, in order of time.
using Points = std::vector<Column<Point>>;

Points points_by_clock(const Precedence& precedence, size_t clocks, unsigned threads) {
  std::vector<size_t> counts(clocks);
  for (const Point& point : precedence.points()) ++counts[point.clock.index()];
  Points points(clocks);
  for (size_t c = 0; c < clocks; ++c) points[c].reserve(counts[c]);
  for (const Point& point : precedence.points()) points[point.clock.index()].push_back(point);
  parallel_for(clocks, threads, [&](size_t c) {
    std::sort(points[c].begin(), points[c].end(), [](const Point& a, const Point& b) {
      return std::tie(a.time, a.end, a.exchange) < std::tie(b.time, b.end, b.exchange);
    });
  });
  return points;
}

/// A clock is put forward by `height` at `time`, as one event there demands.
struct Step {
  Time time;
  Duration height;
};

/// The steps of one clock, in order of time.
class Steps {
 public:
  size_t size() const { return steps_.size(); }
  const Step& operator[](size_t i) const { return steps_[i]; }
  /// Returns the repaired time of an event that was recorded after `count` steps.
  Time after(size_t count, Time recorded) const {
    if (count == 0) return recorded;
    return recorded + fallen_back(steps_[count - 1].height, steps_[count - 1].time, recorded);
  }
  /// The same, for an event at the last step or later.
  Time operator()(Time recorded) const { return after(steps_.size(), recorded); }
  void put_forward(Time recorded, Time demanded) {
    if (demanded <= (*this)(recorded) || demanded - recorded > kFurthest) return;
    if (!steps_.empty() && steps_.back().time == recorded) steps_.pop_back();
    steps_.push_back({recorded, demanded - recorded});
  }

 private:
  /// More than a year: no real clock is wrong by that, and kFallBack times as much must fit into 64
  /// bits.
  static constexpr Duration kFurthest = Duration::from_nanos(int64_t{1} << 55);
  std::vector<Step> steps_;
};

/// Visits the points of all clocks such that an exchange's ends come after its begins. The pass is
/// sequential: it does a handful of operations per point, and each may depend on all earlier ones.
class ForwardPass {
 public:
  ForwardPass(Points& points, const Exchanges& exchanges)
      : points_(points), exchanges_(exchanges), states_(exchanges.size()), clocks_(points.size()) {}

  /// A begin is visited before the ends of the same time, so their demands reach it only in the
  /// next round: a chain of such ties over several clocks takes one round per link.
  void run() {
    constexpr int kRounds = 4;
    tied_ = true;
    for (int round = 0; round < kRounds && tied_; ++round) visit_all();
    for (size_t e = states_.size(); e-- > 0;) {
      const ExchangeId next = exchanges_[e].next;
      if (!next.valid()) continue;
      states_[e].first_end = std::min(states_[e].first_end, states_[next.index()].first_end);
    }
  }

  const Steps& steps(ClockId clock) const { return clocks_[clock.index()].steps; }
  /// Returns the repaired time of the exchange's first end.
  Time first_end(ExchangeId exchange) const { return states_[exchange.index()].first_end; }

 private:
  struct RepairState {
    uint32_t missing = 0;      ///< begins not visited yet
    ClockId waiting;           ///< the first of the clocks that cannot go on before it
    Time begun = Time::min();  ///< never falls, not even from one round to the next
    Time first_end = Time::max();
  };
  struct Clock {
    size_t next = 0;  ///< point
    Steps steps;
    Time last_begin = Time::min();
    bool blocked = false;
    ClockId waiting;  ///< the next clock that waits for the same exchange
  };
  struct Blocked {
    Time time;
    ClockId clock;
    size_t point;
    bool operator<(const Blocked& o) const {  // the heap's top is the earliest
      return time != o.time ? o.time < time : o.clock < clock;
    }
  };

  void visit_all();
  void visit(ClockId id);
  void begin(ExchangeId exchange, Time repaired);
  void end(Clock& clock, const Point& point);
  void foresee(Clock& clock, const Column<Point>& points);
  void block(ClockId id, ExchangeId exchange, Time time);
  void give_one_up();

  Points& points_;
  const Exchanges& exchanges_;
  std::vector<RepairState> states_;
  std::vector<Clock> clocks_;
  std::vector<ClockId> ready_;
  std::priority_queue<Blocked> blocked_;
  bool tied_ = false;
};

void ForwardPass::visit_all() {
  tied_ = false;
  for (size_t e = 0; e < states_.size(); ++e) {
    states_[e].missing = exchanges_[e].begins;
    states_[e].first_end = Time::max();
  }
  for (size_t c = clocks_.size(); c-- > 0;) {
    clocks_[c] = {};
    ready_.push_back(ClockId(c));
  }
  while (!ready_.empty() || !blocked_.empty()) {
    if (ready_.empty()) give_one_up();
    while (!ready_.empty()) {
      const ClockId clock = ready_.back();
      ready_.pop_back();
      visit(clock);
    }
  }
}

/// Advances a clock until its points end or it has to wait for another clock.
void ForwardPass::visit(ClockId id) {
  Clock& clock = clocks_[id.index()];
  const Column<Point>& points = points_[id.index()];
  for (; clock.next < points.size(); ++clock.next) {
    const Point& point = points[clock.next];
    if (point.given_up) continue;
    if (point.end) {
      const bool missing = states_[point.exchange.index()].missing > 0;
      if (missing) return block(id, point.exchange, clock.steps(point.time));
      end(clock, point);
    } else {
      if (clock.last_begin != point.time) foresee(clock, points);
      clock.last_begin = point.time;
      begin(point.exchange, clock.steps(point.time));
    }
  }
}

/// Applies the known demands of the ends at one time before the begins of that time are visited.
void ForwardPass::foresee(Clock& clock, const Column<Point>& points) {
  const Time now = points[clock.next].time;
  for (size_t i = clock.next; i < points.size() && points[i].time == now; ++i) {
    if (!points[i].end || points[i].given_up) continue;
    clock.steps.put_forward(now, states_[points[i].exchange.index()].begun);
  }
}

void ForwardPass::begin(ExchangeId exchange, Time time) {
  for (; exchange.valid(); exchange = exchanges_[exchange.index()].next) {
    RepairState& state = states_[exchange.index()];
    state.begun = time = std::max(state.begun, time);
    if (--state.missing > 0) return;
    for (ClockId id = std::exchange(state.waiting, ClockId::none()); id.valid();) {
      Clock& clock = clocks_[id.index()];
      clock.blocked = false;
      ready_.push_back(id);
      id = std::exchange(clock.waiting, ClockId::none());
    }
  }
}

void ForwardPass::end(Clock& clock, const Point& point) {
  RepairState& state = states_[point.exchange.index()];
  const Time before = clock.steps(point.time);
  clock.steps.put_forward(point.time, state.begun);
  const Time after = clock.steps(point.time);
  if (after > before && clock.last_begin == point.time) tied_ = true;
  state.first_end = std::min(state.first_end, after);
}

void ForwardPass::block(ClockId id, ExchangeId exchange, Time time) {
  Clock& clock = clocks_[id.index()];
  clock.waiting = std::exchange(states_[exchange.index()].waiting, id);
  clock.blocked = true;
  blocked_.push({time, id, clock.next});
}

/// All unfinished clocks wait for each other: lets the earliest one continue.
void ForwardPass::give_one_up() {
  const Blocked top = blocked_.top();
  blocked_.pop();
  Clock& clock = clocks_[top.clock.index()];
  if (!clock.blocked || clock.next != top.point) return;  // it has advanced since then
  Point& point = points_[top.clock.index()][top.point];
  point.given_up = true;
  ClockId* link = &states_[point.exchange.index()].waiting;
  while (*link != top.clock) link = &clocks_[link->index()].waiting;
  *link = std::exchange(clock.waiting, ClockId::none());
  clock.blocked = false;
  ready_.push_back(top.clock);
}

/// Spreads the steps of one clock over the time before them, from the last to the first.
class BackwardPass {
 public:
  BackwardPass(const Column<Point>& points, const Steps& steps, const ForwardPass& forward)
      : points_(points), steps_(steps), forward_(forward) {}

  ClockMap run() {
    if (steps_.size() == 0) return {};
    const Step& last = steps_[steps_.size() - 1];
    pieces_.push_back({last.time, last.height, last.time, {}, {}});
    size_t end = points_.size();
    for (size_t s = steps_.size(); s-- > 0;) {
      while (end > 0 && points_[end - 1].time >= steps_[s].time) --end;
      climb(s, end);
    }
    std::reverse(pieces_.begin(), pieces_.end());
    return ClockMap(std::move(pieces_));
  }

 private:
  /// A limit on the ramp: at `time` it may have risen by `rise` at most.
  struct Corner {
    Time time;
    Duration rise;
  };
  /// Returns whether `b` lies below the straight line from `a` to `c`.
  static bool below(const Corner& a, const Corner& b, const Corner& c) {
    __extension__ using Wide = __int128;
    return Wide{(c.rise - b.rise).nanos()} * (b.time - a.time).nanos() >
           Wide{(b.rise - a.rise).nanos()} * (c.time - b.time).nanos();
  }

  void climb(size_t step, size_t end);
  void find_corners(size_t step, size_t end);
  void add_piece(size_t step, Time begin, Duration rise_begin, Duration rise_end) {
    const Step before = step == 0 ? Step{begin, Duration::zero()} : steps_[step - 1];
    pieces_.push_back({begin, before.height, before.time, rise_begin, rise_end});
  }

  const Column<Point>& points_;
  const Steps& steps_;
  const ForwardPass& forward_;
  std::vector<ClockMap::Piece> pieces_;  // the last first
  std::vector<Corner> corners_;          // of the ramp to the current step, from right to left
};

/// Builds the ramp up to a step: as steep as clocks fall back, but below the limits that other
/// clocks' ends set for the begins in between. Its corners are the lower convex hull of these
/// limits, so that it is nowhere steeper than it must be. Points from index `end` on are not before
/// the step.
void BackwardPass::climb(size_t step, size_t end) {
  find_corners(step, end);
  size_t c = 0;
  for (; c + 1 < corners_.size(); ++c) {
    const Corner &right = corners_[c], &left = corners_[c + 1];
    const Duration drop = right.rise - left.rise;
    if (drop.nanos() <= (right.time - left.time).nanos() / kFallBack) break;
    add_piece(step, left.time, left.rise, right.rise);
  }
  const Corner top = corners_[c];
  const Time from = top.time - way_up(top.rise);
  if (step == 0) {
    if (top.rise > Duration::zero()) add_piece(step, from, Duration::zero(), top.rise);
    return;
  }
  const Time left = steps_[step - 1].time;
  if (from <= left) {
    if (top.time > left) add_piece(step, left, fallen_back(top.rise, left, top.time), top.rise);
  } else {
    if (top.rise > Duration::zero()) add_piece(step, from, Duration::zero(), top.rise);
    add_piece(step, left, Duration::zero(), Duration::zero());
  }
}

/// Collects the limits of the begins before a step that lie below the unhindered ramp.
void BackwardPass::find_corners(size_t step, size_t end) {
  const auto [time, height] = steps_[step];
  // The amount by which the piece to the right starts higher at the step than the piece to the left
  // ends.
  const Duration rise = time + height - steps_.after(step, time) + pieces_.back().rise_begin;
  const Time left = step == 0 ? Time::min() : steps_[step - 1].time;
  corners_.assign(1, {time, rise});
  for (size_t i = end; i-- > 0 && points_[i].time >= left;) {
    const Point& point = points_[i];
    const Duration unhindered = fallen_back(rise, point.time, time);
    if (unhindered == Duration::zero()) return;
    const Time allowed = forward_.first_end(point.exchange);
    if (point.end || allowed == Time::max()) continue;
    const Time repaired = steps_.after(step, point.time);
    const Corner corner{point.time, allowed > repaired ? allowed - repaired : Duration::zero()};
    if (corner.rise >= unhindered || corner.rise >= corners_.back().rise) continue;
    while (corners_.size() > 1 && !below(corner, corners_.back(), corners_[corners_.size() - 2])) {
      corners_.pop_back();
    }
    corners_.push_back(corner);
  }
}

void summarise(const Steps& steps, ClockRepair& repair) {
  repair.repairs += steps.size();
  for (size_t s = 0; s < steps.size(); ++s) {
    const auto [time, height] = steps[s];
    repair.largest = std::max(repair.largest, height);
    repair.total += time + height - steps.after(s, time);
  }
}

/// Counts the ends that still come before a begin that they waited for.
uint64_t count_early_ends(const Points& points, const Exchanges& exchanges,
                          const std::vector<ClockMap>& maps) {
  std::vector<Time> begun(exchanges.size(), Time::min());
  for (size_t c = 0; c < points.size(); ++c) {
    ClockMap::Cursor repaired(maps[c]);
    for (const Point& point : points[c]) {
      Time& last = begun[point.exchange.index()];
      if (!point.end) last = std::max(last, repaired(point.time));
    }
  }
  for (size_t e = 0; e < exchanges.size(); ++e) {
    const ExchangeId next = exchanges[e].next;
    if (next.valid()) begun[next.index()] = std::max(begun[next.index()], begun[e]);
  }
  uint64_t early = 0;
  for (size_t c = 0; c < points.size(); ++c) {
    ClockMap::Cursor repaired(maps[c]);
    for (const Point& point : points[c]) {
      early += point.end && repaired(point.time) < begun[point.exchange.index()];
    }
  }
  return early;
}

}  // namespace

ClockRepair repair_clocks(const Precedence& precedence, size_t clocks, unsigned threads) {
  Points points = points_by_clock(precedence, clocks, threads);
  ForwardPass forward(points, precedence.exchanges());
  forward.run();
  ClockRepair repair;
  repair.maps.resize(clocks);
  for (size_t c = 0; c < clocks; ++c) summarise(forward.steps(ClockId(c)), repair);
  parallel_for(clocks, threads, [&](size_t c) {
    repair.maps[c] = BackwardPass(points[c], forward.steps(ClockId(c)), forward).run();
  });
  repair.unrepaired = count_early_ends(points, precedence.exchanges(), repair.maps);
  return repair;
}

}  // namespace culprit::replay
