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

  void enter(Time t, RegionId r) override { to_.enter(at(t), r); }
  void leave(Time t, RegionId r) override { to_.leave(at(t), r); }
  void mpi_send(Time t, const MpiMessage& m) override { to_.mpi_send(at(t), m); }
  void mpi_recv(Time t, const MpiMessage& m) override { to_.mpi_recv(at(t), m); }
  void mpi_isend(Time t, const MpiMessage& m, RequestId r) override { to_.mpi_isend(at(t), m, r); }
  void mpi_isend_complete(Time t, RequestId r) override { to_.mpi_isend_complete(at(t), r); }
  void mpi_irecv_request(Time t, RequestId r) override { to_.mpi_irecv_request(at(t), r); }
  void mpi_irecv(Time t, const MpiMessage& m, RequestId r) override { to_.mpi_irecv(at(t), m, r); }
  void mpi_isend_ready(Time t, RequestId r) override { to_.mpi_isend_ready(at(t), r); }
  void mpi_request_test(Time t, RequestId r) override { to_.mpi_request_test(at(t), r); }
  void mpi_request_cancelled(Time t, RequestId r) override { to_.mpi_request_cancelled(at(t), r); }
  void mpi_probe(Time t, const MpiMessage& m) override { to_.mpi_probe(at(t), m); }
  void mpi_collective(Time t, const MpiCollective& c) override { to_.mpi_collective(at(t), c); }
  void mpi_icollective_request(Time t, RequestId r) override {
    to_.mpi_icollective_request(at(t), r);
  }
  void mpi_icollective_complete(Time t, const MpiCollective& c, RequestId r) override {
    to_.mpi_icollective_complete(at(t), c, r);
  }
  void rma_window_created(Time t, WindowId w) override { to_.rma_window_created(at(t), w); }
  void rma_window_destroyed(Time t, WindowId w) override { to_.rma_window_destroyed(at(t), w); }
  void rma_collective(Time t, const RmaCollective& c) override { to_.rma_collective(at(t), c); }
  void rma_group_sync(Time t, const RmaGroupSync& s) override { to_.rma_group_sync(at(t), s); }
  void rma_lock(Time t, const RmaLock& l) override { to_.rma_lock(at(t), l); }
  void rma_sync(Time t, const RmaSync& s) override { to_.rma_sync(at(t), s); }
  void rma_operation(Time t, const RmaOperation& o) override { to_.rma_operation(at(t), o); }
  void rma_complete(Time t, WindowId w, RmaOpId o, RmaCompletion c) override {
    to_.rma_complete(at(t), w, o, c);
  }
  void file_opened(Time t, FileId f, FileAccess a) override { to_.file_opened(at(t), f, a); }
  void file_closed(Time t, FileId f) override { to_.file_closed(at(t), f); }
  void file_operation(Time t, const FileOperation& o) override { to_.file_operation(at(t), o); }
  void file_operation_issued(Time t, FileId f, FileOpId o) override {
    to_.file_operation_issued(at(t), f, o);
  }
  void file_operation_complete(Time t, FileId f, FileOpId o, uint64_t bytes) override {
    to_.file_operation_complete(at(t), f, o, bytes);
  }
  void thread_fork(Time t, uint32_t n, RegionInstance i) override { to_.thread_fork(at(t), n, i); }
  void thread_join(Time t) override { to_.thread_join(at(t)); }
  void thread_team_begin(Time t, RegionInstance i) override { to_.thread_team_begin(at(t), i); }
  void thread_team_end(Time t) override { to_.thread_team_end(at(t)); }
  void mutex_acquired(Time t, MutexKind k, uint64_t l) override { to_.mutex_acquired(at(t), k, l); }
  void mutex_released(Time t, MutexKind k, uint64_t l) override { to_.mutex_released(at(t), k, l); }
  void device_launch(Time t, const DeviceLaunch& l) override { to_.device_launch(at(t), l); }
  void device_wait(Time t, const DeviceWait& w) override { to_.device_wait(at(t), w); }
  void device_operation(Time t, const DeviceOperation& o) override {
    DeviceOperation moved = o;
    if (moved.submitted) *moved.submitted = *moved.submitted + (at(t) - t);
    to_.device_operation(at(t), moved);
  }
  void metrics(Time t, MetricSetId s, std::span<const double> v) override {
    to_.metrics(at(t), s, v);
  }
  void task_create(Time t, TaskId i) override { to_.task_create(at(t), i); }
  void task_switch(Time t, TaskId i) override { to_.task_switch(at(t), i); }
  void task_complete(Time t, TaskId i) override { to_.task_complete(at(t), i); }
  void fact(Time t, Fact f, uint64_t value) override { to_.fact(at(t), f, value); }
  void iteration(Time t, int64_t number) override { to_.iteration(at(t), number); }
  void recording(Time t, bool on) override { to_.recording(at(t), on); }
  void other(Time t, const char* kind) override { to_.other(at(t), kind); }

 private:
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
