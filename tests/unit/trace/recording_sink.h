// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// An EventSink that writes down each event as one line of text, so that a test compares two streams
// exactly and shows where they part.
#pragma once

#include <sstream>
#include <string>
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
  void mpi_request_test(Time t, RequestId r) override { note(t, "test", id(r)); }
  void mpi_request_cancelled(Time t, RequestId r) override { note(t, "cancelled", id(r)); }
  void mpi_collective(Time t, const MpiCollective& c) override { collective(t, "collective", c); }
  void mpi_icollective_request(Time t, RequestId r) override { note(t, "icoll_request", id(r)); }
  void mpi_icollective_complete(Time t, const MpiCollective& c, RequestId r) override {
    collective(t, "icoll", c, id(r));
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
  void metrics(Time t, MetricSetId set, std::span<const double> values) override {
    note(t, "metrics", set.index(), values.size());
    for (const double value : values) lines.back() += " " + std::to_string(value);
  }
  void other(Time t, const char* kind) override { note(t, kind); }

 private:
  static uint64_t id(RequestId request) { return static_cast<uint64_t>(request); }

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
  }
  template <class... Facts>
  void collective(Time t, const char* kind, const MpiCollective& c, Facts... facts) {
    note(t, kind, static_cast<int>(c.op), c.comm.index(),
         c.root ? static_cast<int64_t>(*c.root) : -1, c.bytes_sent, c.bytes_received, facts...);
  }
};

}  // namespace culprit::trace
