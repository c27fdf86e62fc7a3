// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Marks are sorted by location and moment; then each location's activities, waits and marks are
// walked through side by side.
#include "predict/rerun/event_graph.h"

#include <algorithm>
#include <span>

#include "base/parallel.h"

namespace culprit::predict {

namespace {

using replay::Activities;
using replay::Run;
using replay::Wait;
using replay::WaitGraph;

/// By location: where its marks begin; one more at the end. Marks are in order.
std::vector<size_t> sort_marks(Column<Mark>& marks, size_t locations, unsigned threads) {
  std::vector<size_t> first(locations + 1);
  for (const Mark& mark : marks) ++first[mark.location.index() + 1];
  for (size_t i = 0; i < locations; ++i) first[i + 1] += first[i];
  Column<Mark> sorted;
  sorted.resize_uninitialized(marks.size());
  std::vector<size_t> next(first.begin(), first.end() - 1);
  for (const Mark& mark : marks) sorted[next[mark.location.index()]++] = mark;
  marks = std::move(sorted);
  parallel_for(locations, threads, [&](size_t i) {
    std::stable_sort(marks.begin() + first[i], marks.begin() + first[i + 1],
                     [](const Mark& a, const Mark& b) {
                       if (a.time != b.time) return a.time < b.time;
                       if (a.since != b.since) return a.since > b.since;
                       return a.kind_ < b.kind_;
                     });
  });
  return first;
}

/// The steps of one location.
class StepWriter {
 public:
  StepWriter(const Run& run, const WaitGraph& graph, const Dependences& found, LocationId id,
             std::span<const Mark> marks, std::span<const Idle> idle, Column<Step>& steps)
      : run_(run),
        waits_(graph.waits[id.index()]),
        found_(found),
        id_(id),
        marks_(marks),
        idle_(idle),
        steps_(steps) {}

  /// Returns the time of polling that is taken for work.
  Duration write() {
    const Activities& life = run_.at(id_).activities;
    for (size_t i = 0; i < life.size(); ++i) {
      path_ = life.path(i);
      Time at = life.begin(i);
      const Time end = life.end(i);
      while (at < end) {
        const Time until = std::min(end, next_edge(at));
        spend(at, until);
        at = until;
      }
      if (i + 1 == life.size()) follow_marks(end);
    }
    return polled_;
  }

 private:
  /// Follows the marks at `at`, and says when something changes next.
  Time next_edge(Time at) {
    follow_marks(at);
    while (next_wait_ < waits_.size() && waits_[next_wait_].end <= at) ++next_wait_;
    while (next_idle_ < idle_.size() && idle_[next_idle_].end <= at) ++next_idle_;
    Time edge = next_mark_ < marks_.size() ? marks_[next_mark_].time : Time::max();
    const auto see = [&](Time begin, Time end) { edge = std::min(edge, begin > at ? begin : end); };
    if (next_wait_ < waits_.size()) see(waits_[next_wait_].begin, waits_[next_wait_].end);
    if (next_idle_ < idle_.size()) see(idle_[next_idle_].begin, idle_[next_idle_].end);
    return edge;
  }

  void follow_marks(Time at) {
    for (; next_mark_ < marks_.size() && marks_[next_mark_].time <= at; ++next_mark_) {
      follow(marks_[next_mark_]);
    }
  }

  void follow(const Mark& mark) {
    switch (mark.kind()) {
      case MarkKind::signal:
        return put(StepKind::signal, 0, mark.target);
      case MarkKind::lock_asked:
        return put(StepKind::lock, 0, mark.target);
      case MarkKind::lock_released:
        return put(StepKind::unlock, 0, mark.target);
      case MarkKind::gate:
        break;
    }
    const Hub& hub = found_.hubs[mark.target];
    if (hub.signals == 0) return;
    put(StepKind::gate, (time_for(hub) - mark.time).nanos(), mark.target, mark.delivery);
    if (mark.delivery == Deliveries::kNone || !is_mpi(path_)) return;
    transfer_ = path_;
    delivery_ = mark.delivery;
  }

  /// When the last came that this location waits for: what it gives itself it has.
  Time time_for(const Hub& hub) const {
    if (hub.last == Hub::kNone || found_.lasts[hub.last].location != id_) return hub.time;
    return found_.lasts[hub.last].others;
  }

  bool is_mpi(CallPathId path) const {
    const RegionId region = run_.callpaths[path].region;
    return region.valid() && run_.regions[region.index()].paradigm == trace::Paradigm::mpi;
  }

  /// Who works between tests goes on with that; who does hardly anything but test, waits.
  static bool is_idle(const Wait& wait) {
    if (wait.pattern != replay::pattern("mpi.polling")) return true;
    return wait.end - wait.begin - wait.amount <= wait.amount;
  }

  bool is_idle(Time at) const {
    if (next_idle_ < idle_.size() && idle_[next_idle_].begin <= at) return true;
    if (next_wait_ < waits_.size()) {
      const Wait& wait = waits_[next_wait_];
      if (wait.begin <= at && at < wait.end && waits_at(run_, wait, path_)) return is_idle(wait);
    }
    if (path_ == run_.ended || path_ == run_.idle) return true;
    // A process begins when it begins; its pool's threads and its streams need not.
    return path_ == run_.not_started && (run_.is_stream(id_) || run_.is_pool_thread(id_));
  }

  bool is_polling(Time at) const {
    if (next_wait_ == waits_.size()) return false;
    const Wait& wait = waits_[next_wait_];
    return wait.begin <= at && wait.pattern == replay::pattern("mpi.polling");
  }

  void spend(Time from, Time to) {
    const int64_t nanos = (to - from).nanos();
    const auto path = static_cast<uint32_t>(path_.index());
    if (is_idle(from)) return put(StepKind::idle, nanos, path);
    if (is_polling(from)) polled_ += to - from;
    if (transfer_ != path_) transfer_ = CallPathId::none();
    if (transfer_.valid()) return put(StepKind::transfer, nanos, path, delivery_);
    put(StepKind::work, nanos, path);
  }

  void put(StepKind kind, int64_t amount, uint32_t what, uint32_t delivery = Deliveries::kNone) {
    if (!steps_.empty() && kind <= StepKind::idle) {
      Step& last = steps_.back();
      if (last.kind() == kind && last.what == what && last.delivery == delivery) {
        last.amount += amount;
        return;
      }
    }
    steps_.push_back({static_cast<uint64_t>(kind), amount, what, delivery});
  }

  const Run& run_;
  const Column<Wait>& waits_;
  const Dependences& found_;
  const LocationId id_;
  const std::span<const Mark> marks_;
  const std::span<const Idle> idle_;
  Column<Step>& steps_;
  size_t next_mark_ = 0, next_wait_ = 0, next_idle_ = 0;
  CallPathId path_, transfer_;
  uint32_t delivery_ = Deliveries::kNone;
  Duration polled_;
};

/// In order, each moment in one of them.
void separate(Column<Idle>& idle) {
  std::stable_sort(idle.begin(), idle.end(),
                   [](const Idle& a, const Idle& b) { return a.begin < b.begin; });
  for (size_t i = 1; i < idle.size(); ++i) {
    idle[i].begin = std::max(idle[i].begin, idle[i - 1].end);
    idle[i].end = std::max(idle[i].begin, idle[i].end);
  }
}

/// Those that are steps of a location: others never come.
void count_signals(const std::vector<Column<Step>>& steps, Column<Hub>& hubs) {
  for (Hub& hub : hubs) hub.signals = 0;
  for (const Column<Step>& of_location : steps) {
    for (const Step& step : of_location) {
      if (step.kind() == StepKind::signal) ++hubs[step.what].signals;
    }
  }
  for (const Hub& hub : hubs) {
    if (hub.next.valid()) ++hubs[hub.next.index()].signals;
  }
}

/// The tenth of the transfers of one hop that is shortest decides.
Duration find_latency(const EventGraph& graph) {
  std::vector<int64_t> nanos;
  for (const Column<Step>& steps : graph.steps) {
    for (const Step& step : steps) {
      if (step.kind() != StepKind::transfer) continue;
      if (graph.deliveries[step.delivery].hops() == 1) nanos.push_back(step.amount);
    }
  }
  if (nanos.empty()) return Duration::zero();
  const auto tenth = nanos.begin() + static_cast<ptrdiff_t>(nanos.size() / 10);
  std::nth_element(nanos.begin(), tenth, nanos.end());
  return Duration::from_nanos(*tenth);
}

}  // namespace

EventGraph build_graph(const Run& run, const WaitGraph& graph, Dependences found,
                       unsigned threads) {
  add_waits(run, graph, found);
  const size_t count = run.timelines.size();
  const std::vector<size_t> first = sort_marks(found.marks, count, threads);
  std::vector<Column<Idle>> idle(count);
  for (const Idle& one : found.idle) idle[one.location.index()].push_back(one);
  std::vector<Duration> polled(count);
  EventGraph built;
  built.begin = run.begin;
  built.end = run.end;
  built.locations = run.locations;
  built.steps.resize(count);
  parallel_for(run.locations.size(), threads, [&](size_t i) {
    const LocationId id = run.locations[i];
    const size_t at = id.index();
    std::sort(idle[at].begin(), idle[at].end(),
              [](const Idle& a, const Idle& b) { return a.begin < b.begin; });
    const std::span<const Mark> marks =
        std::span<const Mark>(found.marks).subspan(first[at], first[at + 1] - first[at]);
    separate(idle[at]);
    polled[at] = StepWriter(run, graph, found, id, marks, idle[at], built.steps[at]).write();
  });
  built.untold = found.untold;
  for (const Duration one : polled) built.untold.polled += one;
  count_signals(built.steps, found.hubs);
  built.hubs = std::move(found.hubs);
  built.holdings = std::move(found.holdings);
  built.deliveries = std::move(found.deliveries);
  built.locks = found.locks;
  built.latency = find_latency(built);
  return built;
}

}  // namespace culprit::predict
