// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Marks are sorted by location and moment; then a location's activities, waits and marks are walked
// through side by side.
#include "predict/rerun/steps.h"

#include <algorithm>
#include <utility>

#include "base/merge_runs.h"
#include "base/parallel.h"
#include "base/ranks/agree.h"

namespace culprit::predict {

namespace {

using replay::Run;
using replay::Wait;
using replay::WaitGraph;

/// By location: where its marks begin; one more at the end.
std::vector<size_t> count_marks(const Column<Mark>& marks, size_t locations) {
  std::vector<size_t> first(locations + 1);
  for (const Mark& mark : marks) ++first[mark.location.index() + 1];
  for (size_t i = 0; i < locations; ++i) first[i + 1] += first[i];
  return first;
}

bool is_earlier(const Mark& a, const Mark& b) {
  if (a.time != b.time) return a.time < b.time;
  if (a.since != b.since) return a.since > b.since;
  return a.kind_ < b.kind_;
}

/// Operations that a location passes at one moment, in an order that does not depend on who found
/// them: that in which they were complete, and then by communicator.
void sort_meetings(const Dependences& found, std::span<Mark> marks) {
  const auto order = [&](const Mark& mark) {
    const Hub& hub = found.hubs[mark.target];
    if (hub.meeting == Hub::kNone) return std::pair(Time::min(), CommId());
    return std::pair(hub.time, found.meetings[hub.meeting].comm);
  };
  for (size_t i = 0, end; i < marks.size(); i = end) {
    for (end = i + 1; end < marks.size() && !is_earlier(marks[i], marks[end]);) ++end;
    const bool of_hub = marks[i].kind() == MarkKind::signal || marks[i].kind() == MarkKind::gate;
    if (end - i == 1 || !of_hub) continue;
    std::stable_sort(marks.begin() + static_cast<ptrdiff_t>(i),
                     marks.begin() + static_cast<ptrdiff_t>(end),
                     [&](const Mark& a, const Mark& b) { return order(a) < order(b); });
  }
}

/// By location and moment. Each model has found a location's marks in about their order, so these
/// are a few ascending runs as long as nothing stirs them.
std::vector<size_t> sort_marks(Dependences& found, size_t locations, unsigned threads) {
  Column<Mark>& marks = found.marks;
  std::vector<size_t> first = count_marks(marks, locations);
  std::vector<size_t> next(first.begin(), first.end() - 1);
  Column<Mark> sorted;
  sorted.resize_uninitialized(marks.size());
  for (const Mark& mark : marks) sorted[next[mark.location.index()]++] = mark;
  marks = std::move(sorted);
  parallel_for(locations, threads, [&](size_t i) {
    const std::span<Mark> own(marks.begin() + first[i], marks.begin() + first[i + 1]);
    merge_runs(own.data(), own.data() + own.size(), is_earlier);
    if (!found.meetings.empty()) sort_meetings(found, own);
  });
  return first;
}

/// In order, each moment in one of them.
void separate(Column<Idle>& idle) {
  std::stable_sort(idle.begin(), idle.end(),
                   [](const Idle& a, const Idle& b) { return a.begin < b.begin; });
  for (size_t i = 1; i < idle.size(); ++i) {
    idle[i].begin = std::max(idle[i].begin, idle[i - 1].end);
    idle[i].end = std::max(idle[i].begin, idle[i].end);
  }
}

/// Those that lie within a location's life: others never come.
std::vector<uint32_t> count_signals(const Outline& outline) {
  const Dependences& found = outline.found;
  std::vector<uint32_t> signals(found.hubs.size());
  for (LocationId id : outline.run.locations) {
    const replay::Activities& life = outline.run.at(id).activities;
    if (life.empty()) continue;
    const Time end = life.end(life.size() - 1);
    for (const Mark& mark : outline.marks_of(id)) {
      if (mark.kind() == MarkKind::signal && mark.time <= end) ++signals[mark.target];
    }
  }
  for (const Hub& hub : found.hubs) {
    if (hub.next.valid()) ++signals[hub.next.index()];
  }
  return signals;
}

std::vector<std::vector<PassedAt>> find_passed(const Outline& outline) {
  const Run& run = outline.run;
  const Dependences& found = outline.found;
  std::vector<std::vector<PassedAt>> passed(run.definitions->processes.size());
  const bool threaded = std::any_of(run.locations.begin(), run.locations.end(),
                                    [&](LocationId id) { return !run.is_master(id); });
  if (!any(*run.ranks, threaded)) return passed;
  for (LocationId id : run.locations) {
    std::vector<PassedAt>& own = passed[run.location(id).process.index()];
    for (const Mark& mark : outline.marks_of(id)) {
      if (mark.kind() != MarkKind::signal && mark.kind() != MarkKind::gate) continue;
      const uint32_t meeting = found.hubs[mark.target].meeting;
      if (meeting == Hub::kNone || found.meetings[meeting].of != Meeting::Of::ranks) continue;
      const bool passes = mark.kind() == MarkKind::signal || found.meetings[meeting].at_gate;
      if (passes) own.push_back({mark.time, meeting});
    }
  }
  for (std::vector<PassedAt>& own : passed) {
    std::stable_sort(own.begin(), own.end(),
                     [](const PassedAt& a, const PassedAt& b) { return a.time < b.time; });
  }
  return passed;
}

/// Who works between tests goes on with that; who does hardly anything but test, waits.
bool is_idle(const Wait& wait) {
  if (wait.pattern != replay::pattern("mpi.polling")) return true;
  return wait.end - wait.begin - wait.amount <= wait.amount;
}

Step step_of(StepKind kind, int64_t amount, uint32_t what, uint32_t delivery = Deliveries::kNone) {
  return {static_cast<uint64_t>(kind), amount, what, delivery};
}

}  // namespace

Outline outline_run(const Run& run, const WaitGraph& graph, Dependences found, unsigned threads) {
  route_marks(run, found);
  add_waits(run, graph, found);
  route_marks(run, found);
  const size_t count = run.timelines.size();
  Outline outline{run, graph, std::move(found), {}, std::vector<Column<Idle>>(count), {}, {}, {}};
  outline.first_mark = sort_marks(outline.found, count, threads);
  for (const Idle& one : outline.found.idle) outline.idle[one.location.index()].push_back(one);
  outline.found.idle.release();
  for (Column<Idle>& idle : outline.idle) separate(idle);
  outline.signals = count_signals(outline);
  outline.audience = count_elsewhere(run, outline.found, outline.signals);
  outline.passed = find_passed(outline);
  return outline;
}

StepReader::StepReader(const Outline& outline, LocationId id)
    : outline_(&outline),
      life_(&outline.run.at(id).activities),
      waits_(&outline.graph.waits[id.index()]),
      marks_(outline.marks_of(id)),
      idle_(outline.idle[id.index()]),
      id_(id) {
  if (life_->empty()) return;
  path_ = life_->path(0);
  at_ = life_->begin(0), end_ = life_->end(0);
}

bool StepReader::next(Step& step) {
  if (!has_ahead_ && !next_piece(ahead_)) return false;
  step = ahead_;
  has_ahead_ = false;
  while (step.takes_time() && next_piece(ahead_)) {
    has_ahead_ = true;
    const bool alike =
        ahead_.kind_ == step.kind_ && ahead_.what == step.what && ahead_.delivery == step.delivery;
    if (!alike) return true;
    step.amount += ahead_.amount;
    has_ahead_ = false;
  }
  return true;
}

bool StepReader::next_piece(Step& step) {
  if (life_->empty()) return false;
  for (;;) {
    const bool is_last = activity_ + 1 == life_->size();
    // What happens where an activity ends happens in the next.
    while ((at_ < end_ || is_last) && next_mark_ < marks_.size() &&
           marks_[next_mark_].time <= at_) {
      if (follow(marks_[next_mark_++], step)) return true;
    }
    if (at_ < end_) {
      const Time until = std::min(end_, next_edge(at_));
      step = spend(at_, until);
      at_ = until;
      return true;
    }
    if (is_last) return false;
    ++activity_;
    path_ = life_->path(activity_);
    at_ = life_->begin(activity_), end_ = life_->end(activity_);
  }
}

/// When something changes next; all marks up to `at` have been followed.
Time StepReader::next_edge(Time at) {
  while (next_wait_ < waits_->size() && (*waits_)[next_wait_].end <= at) ++next_wait_;
  while (next_idle_ < idle_.size() && idle_[next_idle_].end <= at) ++next_idle_;
  Time edge = next_mark_ < marks_.size() ? marks_[next_mark_].time : Time::max();
  const auto see = [&](Time begin, Time end) { edge = std::min(edge, begin > at ? begin : end); };
  if (next_wait_ < waits_->size()) see((*waits_)[next_wait_].begin, (*waits_)[next_wait_].end);
  if (next_idle_ < idle_.size()) see(idle_[next_idle_].begin, idle_[next_idle_].end);
  return edge;
}

/// Whether it is a step.
bool StepReader::follow(const Mark& mark, Step& step) {
  switch (mark.kind()) {
    case MarkKind::signal:
      return step = step_of(StepKind::signal, 0, mark.target), true;
    case MarkKind::lock_asked:
      return step = step_of(StepKind::lock, 0, mark.target), true;
    case MarkKind::lock_released:
      return step = step_of(StepKind::unlock, 0, mark.target), true;
    case MarkKind::gate:
      break;
  }
  const Hub& hub = outline_->found.hubs[mark.target];
  if (hub.signals == 0) return false;
  step = step_of(StepKind::gate, (time_for(hub) - mark.time).nanos(), mark.target, mark.delivery);
  if (mark.delivery != Deliveries::kNone && is_mpi(path_)) {
    transfer_ = path_;
    delivery_ = mark.delivery;
  }
  return true;
}

/// When the last came that this location waits for: what it gives itself it has.
Time StepReader::time_for(const Hub& hub) const {
  const Column<Last>& lasts = outline_->found.lasts;
  if (hub.last == Hub::kNone || lasts[hub.last].location != id_) return hub.time;
  return lasts[hub.last].others;
}

bool StepReader::is_mpi(CallPathId path) const {
  const Run& run = outline_->run;
  const RegionId region = run.callpaths[path].region;
  return region.valid() && run.regions[region.index()].paradigm == trace::Paradigm::mpi;
}

bool StepReader::is_idle(Time at) const {
  const Run& run = outline_->run;
  if (next_idle_ < idle_.size() && idle_[next_idle_].begin <= at) return true;
  if (next_wait_ < waits_->size()) {
    const Wait& wait = (*waits_)[next_wait_];
    // A thread does nothing before it is made, however little of that counts as its wait.
    const bool has_begun = wait.begin <= at || replay::is_before_begin(wait.pattern);
    if (has_begun && at < wait.end && waits_at(run, wait, path_)) {
      if (wait.pattern == replay::pattern("thread.spare")) return is_let_go();
      return predict::is_idle(wait);
    }
  }
  if (path_ == run.ended || path_ == run.idle) return true;
  // A process begins when it begins; its pool's threads and its streams need not.
  return path_ == run.not_started && (run.is_stream(id_) || run.is_pool_thread(id_));
}

/// Whether another thread ends the sleep that the next wait is a part of. If none does, its time
/// was up, or what came was not recorded, and that takes as long as it took.
bool StepReader::is_let_go() const {
  Time end = (*waits_)[next_wait_].end;
  for (size_t i = next_wait_ + 1; i < waits_->size() && (*waits_)[i].begin == end; ++i) {
    end = (*waits_)[i].end;
  }
  for (size_t i = next_mark_; i < marks_.size() && marks_[i].time <= end; ++i) {
    if (marks_[i].kind() == MarkKind::gate) return true;
  }
  return false;
}

bool StepReader::is_polling(Time at) const {
  if (next_wait_ == waits_->size()) return false;
  const Wait& wait = (*waits_)[next_wait_];
  return wait.begin <= at && wait.pattern == replay::pattern("mpi.polling");
}

Step StepReader::spend(Time from, Time to) {
  const int64_t nanos = (to - from).nanos();
  const auto path = static_cast<uint32_t>(path_.index());
  if (is_idle(from)) return step_of(StepKind::idle, nanos, path);
  if (is_polling(from)) polled_ += to - from;
  if (transfer_ != path_) transfer_ = CallPathId::none();
  if (transfer_.valid()) return step_of(StepKind::transfer, nanos, path, delivery_);
  return step_of(StepKind::work, nanos, path);
}

}  // namespace culprit::predict
