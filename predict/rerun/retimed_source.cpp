// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Each location's events come in order of time, so its breakpoints are walked through side by side.
#include "predict/rerun/retimed_source.h"

#include <algorithm>
#include <cmath>

namespace culprit::predict {

namespace {

using namespace trace;

/// Between two breakpoints, of which the second lies behind `time`.
Time between(const Breakpoint& a, const Breakpoint& b, Time time) {
  const double part = static_cast<double>((time - a.recorded).nanos()) /
                      static_cast<double>((b.recorded - a.recorded).nanos());
  const double nanos = part * static_cast<double>((b.replayed - a.replayed).nanos());
  return a.replayed + Duration::from_nanos(std::llround(nanos));
}

/// Knots from `at` on; `at` is moved to the first that is not before `time`.
Time follow(const Column<Breakpoint>& breakpoints, size_t& at, Time time) {
  if (breakpoints.empty()) return time;
  while (at < breakpoints.size() && breakpoints[at].recorded < time) ++at;
  if (at == breakpoints.size())
    return breakpoints.back().replayed + (time - breakpoints.back().recorded);
  if (at == 0 || breakpoints[at].recorded == time) {
    return breakpoints[at].replayed + (time - breakpoints[at].recorded);
  }
  return between(breakpoints[at - 1], breakpoints[at], time);
}

/// Hands events on with their new times.
class Retimer final : public EventSink {
 public:
  Retimer(const Column<Breakpoint>& breakpoints, EventSink& to)
      : breakpoints_(breakpoints), to_(to) {}

#define EVENT(name, parameters, arguments) \
  void name(Time time CULPRIT_AND parameters) override { to_.name(at(time) CULPRIT_AND arguments); }
#define EVENT_WITH_TIMES(name, parameters, arguments)              \
  void name(Time time CULPRIT_AND parameters) override {           \
    const Time moved = at(time);                                   \
    to_.name(moved, moved_by(moved - time CULPRIT_AND arguments)); \
  }
#include "trace/events.def"

 private:
  static DeviceOperation moved_by(Duration by, DeviceOperation operation) {
    if (operation.submitted) *operation.submitted = *operation.submitted + by;
    return operation;
  }
  Time at(Time time) { return follow(breakpoints_, next_, time); }

  const Column<Breakpoint>& breakpoints_;
  EventSink& to_;
  size_t next_ = 0;
};

class RetimedSource final : public Source {
 public:
  RetimedSource(const Source& source, std::vector<Column<Breakpoint>> breakpoints)
      : source_(source), breakpoints_(std::move(breakpoints)) {}

  const Definitions& definitions() const override { return source_.definitions(); }
  uint64_t expected_events() const override { return source_.expected_events(); }
  Result<void> read(LocationId location, EventSink& sink, Losses& losses) const override {
    static const Column<Breakpoint> kNone;
    const size_t i = location.index();
    Retimer retimer(i < breakpoints_.size() ? breakpoints_[i] : kNone, sink);
    return source_.read(location, retimer, losses);
  }

 private:
  const Source& source_;
  const std::vector<Column<Breakpoint>> breakpoints_;
};

}  // namespace

std::unique_ptr<Source> retime(const Source& source, std::vector<Column<Breakpoint>> breakpoints) {
  return std::make_unique<RetimedSource>(source, std::move(breakpoints));
}

Time retimed(const Column<Breakpoint>& breakpoints, Time time) {
  size_t at = 0;
  return follow(breakpoints, at, time);
}

}  // namespace culprit::predict
