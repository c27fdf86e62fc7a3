// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// An EventSink that writes down each event as one line of text, so that a test compares two streams
// exactly and shows where they part.
#pragma once

#include <sstream>
#include <string>
#include <type_traits>
#include <vector>

#include "trace/events.h"

namespace culprit::trace {

class RecordingSink : public EventSink {
 public:
  std::vector<std::string> lines;

  void enter(Time t, RegionId r) override { note(t, "enter", r.index()); }
  void leave(Time t, RegionId r) override { note(t, "leave", r.index()); }
  void mpi_send(Time t, const MpiMessage& m) override { message(t, "send", m); }
  void mpi_recv(Time t, const MpiMessage& m) override { message(t, "recv", m); }
  void mpi_isend(Time t, const MpiMessage& m, RequestId r) override {
    message(t, "isend", m, id(r));
  }
  void mpi_isend_complete(Time t, RequestId r) override { note(t, "isend_complete", id(r)); }
  void mpi_irecv_request(Time t, RequestId r) override { note(t, "irecv_request", id(r)); }
  void mpi_irecv(Time t, const MpiMessage& m, RequestId r) override {
    message(t, "irecv", m, id(r));
  }
  void mpi_isend_ready(Time t, RequestId r) override { note(t, "isend_ready", id(r)); }
  void mpi_probe(Time t, const MpiMessage& m) override { message(t, "probe", m); }
  void mpi_request_test(Time t, RequestId r) override { note(t, "test", id(r)); }
  void mpi_request_cancelled(Time t, RequestId r) override { note(t, "cancelled", id(r)); }
  void mpi_collective(Time t, const MpiCollective& c) override { collective(t, "collective", c); }
  void mpi_icollective_request(Time t, RequestId r) override { note(t, "icoll_request", id(r)); }
  void mpi_icollective_complete(Time t, const MpiCollective& c, RequestId r) override {
    collective(t, "icoll", c, id(r));
  }
  void rma_window_created(Time t, WindowId w) override { note(t, "window_created", w.index()); }
  void rma_window_destroyed(Time t, WindowId w) override { note(t, "window_destroyed", w.index()); }
  void rma_collective(Time t, const RmaCollective& c) override {
    note(t, "rma_collective", number(c.op), c.window.index(),
         c.root ? static_cast<int64_t>(*c.root) : -1, c.bytes_sent, c.bytes_received,
         number(c.assertions));
  }
  void rma_group_sync(Time t, const RmaGroupSync& s) override {
    note(t, "group_sync", number(s.epoch), s.window.index(),
         s.group.valid() ? static_cast<int64_t>(s.group.index()) : -1, number(s.assertions));
  }
  void rma_lock(Time t, const RmaLock& l) override {
    note(t, "lock", number(l.step), l.window.index(), target(l.target), l.exclusive, l.lock,
         number(l.assertions));
  }
  void rma_sync(Time t, const RmaSync& s) override {
    note(t, "rma_sync", number(s.kind), s.window.index(), target(s.target));
  }
  void rma_operation(Time t, const RmaOperation& o) override {
    note(t, "rma_operation", number(o.op), o.window.index(), o.target, o.bytes_sent,
         o.bytes_received, number(o.id));
  }
  void rma_complete(Time t, WindowId w, RmaOpId id, RmaCompletion c) override {
    note(t, "rma_complete", w.index(), number(id), number(c));
  }
  void file_opened(Time t, FileId f, FileAccess a) override {
    note(t, "file_opened", f.index(), number(a));
  }
  void file_closed(Time t, FileId f) override { note(t, "file_closed", f.index()); }
  void file_operation(Time t, const FileOperation& o) override {
    note(t, "file_operation", o.file.index(), number(o.mode), o.collective, o.nonblocking, o.bytes,
         number(o.id));
  }
  void file_operation_issued(Time t, FileId f, FileOpId id) override {
    note(t, "file_issued", f.index(), number(id));
  }
  void file_operation_complete(Time t, FileId f, FileOpId id, uint64_t bytes) override {
    note(t, "file_complete", f.index(), number(id), bytes);
  }
  void thread_fork(Time t, uint32_t n, RegionInstance i) override {
    note(t, "fork", n, static_cast<uint64_t>(i));
  }
  void thread_join(Time t) override { note(t, "join"); }
  void thread_team_begin(Time t, RegionInstance i) override {
    note(t, "team_begin", static_cast<uint64_t>(i));
  }
  void thread_team_end(Time t) override { note(t, "team_end"); }
  void mutex_acquired(Time t, MutexKind k, uint64_t l) override {
    note(t, "acquired", static_cast<int>(k), l);
  }
  void mutex_released(Time t, MutexKind k, uint64_t l) override {
    note(t, "released", static_cast<int>(k), l);
  }
  void device_launch(Time t, const DeviceLaunch& l) override {
    note(t, "device_launch", number(l.operation), number(l.kind), l.queue);
    for (const OperationNumber after : l.after) add("after", number(after));
  }
  void device_wait(Time t, const DeviceWait& w) override {
    note(t, "device_wait", number(w.what), w.queue, number(w.operation),
         w.device.valid() ? static_cast<int64_t>(w.device.index()) : -1);
  }
  void device_operation(Time t, const DeviceOperation& o) override {
    note(t, "device_operation", number(o.operation), number(o.kind), number(o.direction),
         number(o.memory), o.bytes, o.submitted ? o.submitted->nanos() : -1, o.graph_node);
  }
  void metrics(Time t, MetricSetId set, std::span<const double> values) override {
    note(t, "metrics", set.index(), values.size());
    for (const double value : values) lines.back() += " " + std::to_string(value);
  }
  void task_create(Time t, TaskId task) override { note(t, "task_create", task.number()); }
  void task_switch(Time t, TaskId task) override { note(t, "task_switch", task.number()); }
  void task_complete(Time t, TaskId task) override { note(t, "task_complete", task.number()); }
  void fact(Time t, Fact f, uint64_t value) override { note(t, fact_name(f), value); }
  void iteration(Time t, int64_t number) override { note(t, "iteration", number); }
  void recording(Time t, bool on) override { note(t, "recording", on); }
  void other(Time t, const char* kind) override { note(t, kind); }

 private:
  static uint64_t id(RequestId request) { return static_cast<uint64_t>(request); }
  template <class Enum>
  static uint64_t number(Enum value) {
    return static_cast<uint64_t>(value);
  }
  static int64_t target(std::optional<uint32_t> rank) { return rank ? int64_t{*rank} : -1; }

  template <class... Facts>
  void note(Time t, const char* kind, Facts... facts) {
    std::ostringstream line;
    line << t.nanos() << ' ' << kind;
    ((line << ' ' << facts), ...);
    lines.push_back(line.str());
  }
  template <class... Facts>
  void message(Time t, const char* kind, const MpiMessage& m, Facts... facts) {
    note(t, kind, m.comm.index(), m.peer, m.tag, m.bytes, facts...);
    if (m.partitioned != 0) add("pair", m.partitioned);
    if (m.probe != MatchedProbe::none) add("probe", static_cast<uint64_t>(m.probe));
  }
  template <class... Facts>
  void collective(Time t, const char* kind, const MpiCollective& c, Facts... facts) {
    note(t, kind, static_cast<int>(c.op), c.comm.index(),
         c.root ? static_cast<int64_t>(*c.root) : -1, c.bytes_sent, c.bytes_received, facts...);
    if (c.is_root) add("is_root", 1);
    if (c.sends_to.valid()) add("to", c.sends_to.index());
    if (c.receives_from.valid()) add("from", c.receives_from.index());
  }
  /// What most events do not have.
  void add(const char* what, uint64_t value) {
    lines.back() += std::string(" ") + what + " " + std::to_string(value);
  }
};

template <class Class, class... Arguments>
Class class_of(void (Class::*)(Arguments...));
// A kind that it does not write down would not be compared.
#define EVENT(name, parameters, arguments) \
  static_assert(std::is_same_v<decltype(class_of(&RecordingSink::name)), RecordingSink>);
#include "trace/events.def"

}  // namespace culprit::trace
