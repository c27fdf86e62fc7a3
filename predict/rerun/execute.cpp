// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// No global clock is needed: a location whose awaited events have come can run ahead of the others.
// Only locks need an order in time: requests and releases are kept in a heap, and the earliest is
// served when no location can run. No earlier request can then come: waiting locations continue no
// earlier than the served one.
#include "predict/rerun/execute.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>

#include "predict/machine/machine.h"

namespace culprit::predict {

namespace {

constexpr uint32_t kNobody = UINT32_MAX;

struct HubState {
  uint32_t missing = 0;
  uint32_t waiter = kNobody;  ///< the first location that waits for it; then LocationState::next
  uint32_t last = kNobody;    ///< the location that was last to come
  Time time = Time::min();    ///< when it came
  Time others = Time::min();  ///< when the last of the others did

  void come(uint32_t location, Time at) {
    others = std::max(others, std::min(at, time));
    if (at >= time) last = location;
    time = std::max(time, at);
  }
};

/// Data on its way to a location that has passed gates for it: how long it was awaited from there
/// on in the recorded run, and when all of it comes now.
struct Awaited {
  Duration before;
  Time comes = Time::min();
};

struct LocationState {
  size_t step = 0;
  Time now, recorded;
  uint32_t next_waiter = kNobody;
  bool done = true;
  bool after_idle = false;  ///< the last timed step was idle
  std::optional<Awaited> awaited;
};

/// A location's request or release of a lock at some time.
struct Request {
  Time time;
  bool asks;  ///< at one time those who give back come first
  uint32_t location;
  uint32_t holding;
  bool operator>(const Request& o) const {
    return std::tie(time, asks, holding) > std::tie(o.time, o.asks, o.holding);
  }
};

/// The holders and waiters of all locks.
class Locks {
 public:
  Locks(const EventGraph& graph, LockOrder order)
      : graph_(graph), order_(order), locks_(graph.locks) {}

  /// Returns whether the requester gets the lock now; otherwise it waits.
  bool ask(const Request& request) {
    Lock& lock = lock_of(request);
    if (!may_have(lock, request)) {
      lock.waiting.push_back(request);
      return false;
    }
    take(lock, request);
    return true;
  }

  void give_back(const Request& request) {
    Lock& lock = lock_of(request);
    lock.turn = std::max(lock.turn, turn(request) + 1);
    if (lock.held > 0 && --lock.held > 0) return;
    lock.free_since = request.time;
  }

  /// Returns the waiter that gets the lock next, if any.
  std::optional<Request> next(const Request& after) {
    Lock& lock = lock_of(after);
    const auto next = std::min_element(lock.waiting.begin(), lock.waiting.end(),
                                       [&](const Request& a, const Request& b) {
                                         if (order_ == LockOrder::asked && a.time != b.time) {
                                           return a.time < b.time;
                                         }
                                         return turn(a) < turn(b);
                                       });
    if (next == lock.waiting.end() || !may_have(lock, *next)) return std::nullopt;
    const Request chosen = *next;
    lock.waiting.erase(next);
    take(lock, chosen);
    return chosen;
  }

  size_t waiting(const Request& request) { return lock_of(request).waiting.size(); }
  Time free_since(const Request& request) { return lock_of(request).free_since; }

  /// Waits no longer.
  void forget(uint32_t location, uint32_t holding) {
    std::erase_if(locks_[graph_.holdings[holding].lock.index()].waiting,
                  [&](const Request& r) { return r.location == location; });
  }

 private:
  struct Lock {
    uint32_t held = 0;    ///< by how many
    bool shared = false;  ///< by them
    uint32_t turn = 0;    ///< that comes next
    Time free_since = Time::min();
    std::vector<Request> waiting;
  };
  Lock& lock_of(const Request& request) {
    return locks_[graph_.holdings[request.holding].lock.index()];
  }
  uint32_t turn(const Request& request) const { return graph_.holdings[request.holding].turn; }
  bool may_have(const Lock& lock, const Request& request) const {
    const bool free = lock.held == 0 || (lock.shared && graph_.holdings[request.holding].shared);
    return free && (order_ != LockOrder::recorded || turn(request) == lock.turn);
  }
  void take(Lock& lock, const Request& request) {
    ++lock.held;
    lock.shared = graph_.holdings[request.holding].shared;
    lock.turn = turn(request) + 1;
    // A shared holder gets the lock no earlier than one whose turn came first.
    if (order_ == LockOrder::recorded) lock.free_since = std::max(lock.free_since, request.time);
  }

  const EventGraph& graph_;
  const LockOrder order_;
  std::vector<Lock> locks_;
};

/// Returns the time of the messages of a gate or a transfer by themselves, if known.
std::optional<DeliveryTime> time_of(const Pace& pace, const Step& step) {
  if (step.delivery >= pace.deliveries.size()) return std::nullopt;
  return pace.deliveries[step.delivery];
}

/// What of a time has not passed.
Duration remains(Duration time, Duration passed) {
  return std::max(Duration::zero(), time - std::max(Duration::zero(), passed));
}

/// Records that a location passes a gate that opened at `open`; in the recorded run it opened by
/// `later` later than it was passed.
void await_data(const DeliveryTime& time, Duration later, Time open, LocationState& state) {
  if (!state.awaited) state.awaited.emplace();
  Awaited& awaited = *state.awaited;
  awaited.before = std::max(awaited.before, remains(time.before, Duration::zero() - later));
  awaited.comes = std::max(awaited.comes, open + time.after);
}

/// Returns how much longer (negative: shorter) the data are awaited than in the recorded run, and
/// resets that.
Duration take_longer(LocationState& state) {
  if (!state.awaited) return Duration::zero();
  const Awaited awaited = *state.awaited;
  state.awaited.reset();
  return remains(awaited.comes - state.now, Duration::zero()) - awaited.before;
}

/// A location's own contribution to an operation need not travel to itself.
Time open_since(const Pace& pace, LocationId id, const HubState& hub, uint32_t hops) {
  if (hops == 0 || !pace.message_delay) return hub.time;
  Duration delay;
  for (uint32_t hop = 0; hop < hops; ++hop) delay += pace.message_delay(id);
  if (hub.last != id.index()) return hub.time + delay;
  return std::max(hub.time, hub.others + delay);
}

double factor_of(const Pace& pace, uint32_t location, const Step& step) {
  if (location >= pace.factors.size() || pace.factors[location] == nullptr) return 1;
  return (*pace.factors[location])[step.what];
}

/// Returns the time of a step at this pace, in nanoseconds, without noise.
double pure_duration(const EventGraph& graph, const Pace& pace, uint32_t location, size_t place) {
  const Column<double>* times = location < pace.times.size() ? pace.times[location] : nullptr;
  if (times != nullptr && (*times)[place] != kAsItWas) return (*times)[place];
  const Step& step = graph.steps[location][place];
  if (step.kind() == StepKind::idle) return 0;
  double nanos = static_cast<double>(step.amount);
  if (step.kind() == StepKind::transfer) {
    const double hops = graph.deliveries[step.delivery].hops();
    if (!time_of(pace, step)) {
      const double late = std::min(nanos, static_cast<double>(graph.latency.nanos()) * hops);
      nanos = late * pace.latency + (nanos - late) * pace.transfer_time;
    }
    if (pace.added_latency != nullptr) nanos += (*pace.added_latency)[step.what] * hops;
  }
  return nanos * factor_of(pace, location, step);
}

/// `longer`: of what is awaited before a transfer; the call's factor is that of this, too.
int64_t duration(const EventGraph& graph, const Pace& pace, uint32_t location, size_t place,
                 Duration longer) {
  const Step& step = graph.steps[location][place];
  double nanos = std::min(pure_duration(graph, pace, location, place), kLongestNanos);
  const bool is_quiet = location < pace.quiet.size() && pace.quiet[location];
  const bool works = step.kind() == StepKind::work && CallPathId(step.what) != pace.before_begin;
  if (pace.noise && !is_quiet && works) {
    const Duration noise = pace.noise(LocationId(location), whole_nanos(nanos));
    nanos += static_cast<double>(noise.nanos());
  }
  if (longer != Duration::zero()) {
    nanos += static_cast<double>(longer.nanos()) * factor_of(pace, location, step);
  }
  return std::max<int64_t>(0, whole_nanos(nanos).nanos());
}

/// `instead`: where the last one has the same recorded time, it moves.
void add_breakpoint(const Breakpoint& breakpoint, bool instead, Column<Breakpoint>& breakpoints) {
  if (breakpoints.empty()) return breakpoints.push_back(breakpoint);
  Breakpoint& last = breakpoints.back();
  if (instead && last.recorded == breakpoint.recorded) {
    last = breakpoint;
  } else if (last.recorded != breakpoint.recorded || last.replayed != breakpoint.replayed) {
    breakpoints.push_back(breakpoint);
  }
}

/// Waits no longer.
void leave_list(HubState& hub, uint32_t location, std::vector<LocationState>& locations) {
  uint32_t* mark = &hub.waiter;
  while (*mark != location) mark = &locations[*mark].next_waiter;
  *mark = locations[location].next_waiter;
}

/// Spends a budget, if there is one, many steps at a time.
class Payer {
 public:
  explicit Payer(Budget* budget) : budget_(budget) {}
  void pay(size_t steps) {
    constexpr size_t kAtOnce = 1024;
    owed_ += steps;
    if (owed_ < kAtOnce) return;
    if (budget_ != nullptr) budget_->spend(owed_);
    owed_ = 0;
  }

 private:
  Budget* budget_;
  size_t owed_ = 0;
};

class Engine {
 public:
  Engine(const EventGraph& graph, const Pace& pace, Keep keep)
      : graph_(graph),
        pace_(pace),
        keep_(keep),
        hubs_(graph.hubs.size()),
        locations_(graph.steps.size()),
        locks_(graph, pace.locks),
        payer_(pace.budget) {
    for (size_t i = 0; i < hubs_.size(); ++i) hubs_[i].missing = graph.hubs[i].signals;
    out_.ends.assign(graph.steps.size(), graph.begin);
    if (keep == Keep::breakpoints) out_.breakpoints.resize(graph.steps.size());
    for (LocationId id : graph.locations) {
      locations_[id.index()].now = locations_[id.index()].recorded = graph.begin;
      locations_[id.index()].done = false;
      breakpoint(static_cast<uint32_t>(id.index()), locations_[id.index()], false);
      ready_.push_back(static_cast<uint32_t>(id.index()));
    }
  }

  Execution run() {
    for (;;) {
      if (!ready_.empty()) {
        const uint32_t location = ready_.back();
        ready_.pop_back();
        go_on(location);
      } else if (!requests_.empty()) {
        const Request request = requests_.top();
        requests_.pop();
        request.asks ? ask(request) : give_back(request);
      } else if (!force()) {
        break;
      }
    }
    out_.end = graph_.begin;
    for (LocationId id : graph_.locations) {
      out_.ends[id.index()] = locations_[id.index()].now;
      out_.end = std::max(out_.end, locations_[id.index()].now);
    }
    return std::move(out_);
  }

 private:
  void go_on(uint32_t location) {
    LocationState& state = locations_[location];
    const Column<Step>& steps = graph_.steps[location];
    while (state.step < steps.size()) {
      const Step& step = steps[state.step];
      payer_.pay(1);
      if (step.kind() != StepKind::gate && step.kind() != StepKind::transfer) {
        await_longer(location, state);
      }
      switch (step.kind()) {
        case StepKind::work:
        case StepKind::transfer:
        case StepKind::idle:
          spend(location, state, step);
          break;
        case StepKind::signal:
          signal(location, step.what, state.now);
          break;
        case StepKind::gate:
          if (!pass(location, state, step)) return;
          break;
        case StepKind::lock:
        case StepKind::unlock:
          requests_.push({state.now, step.kind() == StepKind::lock, location, step.what});
          return;
      }
      ++state.step;
    }
    await_longer(location, state);
    state.done = true;
  }

  void spend(uint32_t location, LocationState& state, const Step& step) {
    const int64_t took = step.amount;
    const int64_t takes = duration(graph_, pace_, location, state.step, take_longer(state));
    if (takes != took) breakpoint(location, state, false);
    state.recorded = state.recorded + Duration::from_nanos(took);
    state.now = state.now + Duration::from_nanos(takes);
    state.after_idle = step.kind() == StepKind::idle;
    if (takes != took) breakpoint(location, state, false);
  }

  void signal(uint32_t location, uint32_t hub, Time time) {
    for (;;) {
      HubState& state = hubs_[hub];
      state.come(location, time);
      if (state.missing > 0 && --state.missing > 0) return;
      for (uint32_t waiter = state.waiter; waiter != kNobody;) {
        const uint32_t next = locations_[waiter].next_waiter;
        ready_.push_back(waiter);
        waiter = next;
      }
      state.waiter = kNobody;
      if (!graph_.hubs[hub].next.valid()) return;
      time = state.time;
      location = state.last;
      hub = static_cast<uint32_t>(graph_.hubs[hub].next.index());
    }
  }

  bool pass(uint32_t location, LocationState& state, const Step& step) {
    HubState& hub = hubs_[step.what];
    if (pace_.with_progress && graph_.hubs[step.what].of_progress) return true;
    if (hub.missing > 0) {
      state.next_waiter = hub.waiter;
      hub.waiter = location;
      return false;
    }
    const auto later = Duration::from_nanos(step.amount);
    const uint32_t hops = graph_.deliveries[step.delivery].hops();
    const Time open = open_since(pace_, LocationId(location), hub, hops);
    wait_until(location, state, open - std::max(Duration::zero(), later));
    const Time others = hub.last == location ? hub.others : hub.time;
    if (const auto time = time_of(pace_, step)) await_data(*time, later, others, state);
    return true;
  }

  /// Where no transfer follows that takes longer, it is waited for.
  void await_longer(uint32_t location, LocationState& state) {
    const Duration longer = take_longer(state);
    if (longer > Duration::zero()) wait_until(location, state, state.now + longer);
  }

  void wait_until(uint32_t location, LocationState& state, Time time) {
    if (time <= state.now) return;
    out_.waiting += time - state.now;
    if (!state.after_idle) breakpoint(location, state, false);
    state.now = time;
    breakpoint(location, state, state.after_idle);
  }

  void breakpoint(uint32_t location, const LocationState& state, bool instead) {
    if (keep_ == Keep::ends) return;
    add_breakpoint({state.recorded, state.now}, instead, out_.breakpoints[location]);
  }

  void ask(const Request& request) {
    if (!locks_.ask(request)) return;
    grant(request);
    grant_next(request);
  }

  void grant_next(const Request& after) {
    payer_.pay(locks_.waiting(after));
    while (const auto next = locks_.next(after)) grant(*next);
  }

  void grant(const Request& request) {
    LocationState& state = locations_[request.location];
    wait_until(request.location, state, locks_.free_since(request));
    ++state.step;
    ready_.push_back(request.location);
  }

  void give_back(const Request& request) {
    ++locations_[request.location].step;
    ready_.push_back(request.location);
    locks_.give_back(request);
    grant_next(request);
  }

  /// Resolves a circle, which damaged traces and disagreeing clocks contain: when no location can
  /// continue, the earliest waiter passes. Returns false if all are done.
  bool force() {
    uint32_t earliest = kNobody;
    for (LocationId id : graph_.locations) {
      const auto i = static_cast<uint32_t>(id.index());
      if (locations_[i].done) continue;
      if (earliest == kNobody || locations_[i].now < locations_[earliest].now) earliest = i;
    }
    if (earliest == kNobody) return false;
    ++out_.forced;
    payer_.pay(graph_.locations.size());
    LocationState& state = locations_[earliest];
    const Step& step = graph_.steps[earliest][state.step];
    if (step.kind() == StepKind::gate) {
      leave_list(hubs_[step.what], earliest, locations_);
    } else {
      locks_.forget(earliest, step.what);
    }
    ++state.step;
    ready_.push_back(earliest);
    return true;
  }

  const EventGraph& graph_;
  const Pace& pace_;
  const Keep keep_;
  std::vector<HubState> hubs_;
  std::vector<LocationState> locations_;
  Locks locks_;
  Payer payer_;
  std::vector<uint32_t> ready_;
  std::priority_queue<Request, std::vector<Request>, std::greater<>> requests_;
  Execution out_;
};

}  // namespace

Execution execute(const EventGraph& graph, const Pace& pace, Keep keep) {
  return Engine(graph, pace, keep).run();
}

LockChoice choose_lock_order(const EventGraph& graph, Budget* budget) {
  LockChoice best;
  int64_t least = INT64_MAX;
  for (const LockOrder order : {LockOrder::asked, LockOrder::earlier, LockOrder::recorded}) {
    Pace pace;
    pace.locks = order;
    pace.budget = budget;
    const Execution same = execute(graph, pace, Keep::ends);
    const int64_t off = std::abs((same.end - graph.end).nanos());
    if (off < least) least = off, best = {order, same.wall(graph)};
    if (graph.locks == 0 || off * 1000 <= (graph.end - graph.begin).nanos()) break;
  }
  return best;
}

LockOrder best_lock_order(const EventGraph& graph) {
  return graph.locks == 0 ? LockOrder::asked : choose_lock_order(graph).order;
}

}  // namespace culprit::predict
