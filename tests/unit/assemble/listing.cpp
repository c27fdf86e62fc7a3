// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "listing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace culprit::assemble::test {
namespace {

using trace::MpiCollective;
using trace::MpiMessage;
using trace::RegionInstance;
using trace::RequestId;

class ListingSink : public trace::EventSink {
 public:
  explicit ListingSink(std::vector<Listing::Line>& lines) : lines_(lines) {}
  ~ListingSink() override { EXPECT_TRUE(stack_.empty()) << "a region is never left"; }

  void enter(Time time, RegionId region) override {
    add(time, "", region);
    stack_.push_back(region);
  }
  void leave(Time time, RegionId region) override {
    ASSERT_FALSE(stack_.empty());
    EXPECT_EQ(stack_.back(), region);
    stack_.pop_back();
    add(time, "-");
  }
  void mpi_send(Time time, const MpiMessage& m) override { add(time, "send " + of(m)); }
  void mpi_recv(Time time, const MpiMessage& m) override { add(time, "recv " + of(m)); }
  void mpi_isend(Time time, const MpiMessage& m, RequestId r) override {
    add(time, fmt::format("isend {} {}", number(r), of(m)));
  }
  void mpi_isend_complete(Time time, RequestId r) override {
    add(time, fmt::format("isend_complete {}", number(r)));
  }
  void mpi_irecv_request(Time time, RequestId r) override {
    add(time, fmt::format("irecv_request {}", number(r)));
  }
  void mpi_irecv(Time time, const MpiMessage& m, RequestId r) override {
    add(time, fmt::format("irecv {} {}", number(r), of(m)));
  }
  void mpi_isend_ready(Time time, RequestId r) override {
    add(time, fmt::format("isend_ready {}", number(r)));
  }
  void mpi_probe(Time time, const MpiMessage& m) override { add(time, "probe " + of(m)); }
  void mpi_request_cancelled(Time time, RequestId r) override {
    add(time, fmt::format("cancelled {}", number(r)));
  }
  void mpi_collective(Time time, const MpiCollective& c) override { add(time, of(c)); }
  void mpi_icollective_request(Time time, RequestId r) override {
    add(time, fmt::format("icoll_request {}", own(number(r))));
  }
  void mpi_icollective_complete(Time time, const MpiCollective& c, RequestId r) override {
    add(time, fmt::format("icoll {} {}", own(number(r)), of(c)));
  }
  void rma_window_created(Time time, WindowId w) override {
    add(time, fmt::format("window {} created", w.index()));
  }
  void rma_window_destroyed(Time time, WindowId w) override {
    add(time, fmt::format("window {} destroyed", w.index()));
  }
  void rma_collective(Time time, const trace::RmaCollective& c) override {
    add(time, fmt::format("all on window {}: {} assertions {}", c.window.index(), number(c.op),
                          number(c.assertions)));
  }
  void rma_group_sync(Time time, const trace::RmaGroupSync& s) override {
    static const char* const kEpochs[] = {"start", "complete", "post", "wait", "?"};
    add(time,
        fmt::format("{} window {} group {} assertions {}", kEpochs[number(s.epoch)],
                    s.window.index(), s.group.valid() ? static_cast<int64_t>(s.group.index()) : -1,
                    number(s.assertions)));
  }
  void rma_lock(Time time, const trace::RmaLock& l) override {
    const bool released = l.step == trace::RmaLockStep::released;
    add(time, fmt::format("{} window {} target {}",
                          released ? "release" : (l.exclusive ? "lock" : "share"), l.window.index(),
                          of(l.target)));
  }
  void rma_sync(Time time, const trace::RmaSync& s) override {
    add(time,
        fmt::format("sync {} window {} target {}", number(s.kind), s.window.index(), of(s.target)));
  }
  void rma_operation(Time time, const trace::RmaOperation& o) override {
    add(time,
        fmt::format("rma {} window {} target {} bytes {}/{} id {}", number(o.op), o.window.index(),
                    o.target, o.bytes_sent, o.bytes_received, own(number(o.id))));
  }
  void rma_complete(Time time, WindowId w, trace::RmaOpId id,
                    trace::RmaCompletion completion) override {
    static const char* const kWhere[] = {"within", "here", "there"};
    add(time, fmt::format("complete {} window {} id {}", kWhere[number(completion)], w.index(),
                          own(number(id))));
  }
  void file_opened(Time time, FileId f, trace::FileAccess access) override {
    add(time, fmt::format("file {} opened {}", f.index(), number(access)));
  }
  void file_closed(Time time, FileId f) override {
    add(time, fmt::format("file {} closed", f.index()));
  }
  void file_operation(Time time, const trace::FileOperation& o) override {
    static const char* const kModes[] = {"read", "write", "flush"};
    add(time, fmt::format("{} file {} bytes {} id {}{}{}", kModes[number(o.mode)], o.file.index(),
                          o.bytes, own(number(o.id)), o.collective ? " all" : "",
                          o.nonblocking ? " begun" : ""));
  }
  void file_operation_issued(Time time, FileId f, trace::FileOpId id) override {
    add(time, fmt::format("file {} issued {}", f.index(), own(number(id))));
  }
  void file_operation_complete(Time time, FileId f, trace::FileOpId id, uint64_t bytes) override {
    add(time, fmt::format("file {} done {} bytes {}", f.index(), own(number(id)), bytes));
  }
  void thread_fork(Time time, uint32_t threads, RegionInstance region) override {
    add(time, fmt::format("fork {} of {}", number(region), threads));
  }
  void thread_join(Time time) override { add(time, "join"); }
  void thread_team_begin(Time time, RegionInstance region) override {
    add(time, fmt::format("team {}", number(region)));
  }
  void thread_team_end(Time time) override { add(time, "team end"); }
  void mutex_acquired(Time time, trace::MutexKind, uint64_t lock) override {
    add(time, fmt::format("acquired {}", lock));
  }
  void mutex_released(Time time, trace::MutexKind, uint64_t lock) override {
    add(time, fmt::format("released {}", lock));
  }
  void task_create(Time time, trace::TaskId task) override { add(time, "create task " + of(task)); }
  void task_switch(Time time, trace::TaskId task) override { add(time, "to task " + of(task)); }
  void task_complete(Time time, trace::TaskId task) override {
    add(time, fmt::format("task {} complete", of(task)));
  }
  void device_launch(Time time, const trace::DeviceLaunch& launch) override {
    std::string after;
    for (const trace::OperationNumber each : launch.after) {
      after += fmt::format(" after {}", static_cast<uint64_t>(each));
    }
    const bool queued = launch.queue != trace::kNoDeviceQueue;
    add(time, fmt::format("launch {} kind {} on {}{}", static_cast<uint64_t>(launch.operation),
                          static_cast<int>(launch.kind),
                          queued ? std::to_string(launch.queue) : "none", after));
  }
  void device_wait(Time time, const trace::DeviceWait& wait) override {
    const uint64_t object = wait.what == trace::DeviceWaitFor::operation
                                ? static_cast<uint64_t>(wait.operation)
                            : wait.what == trace::DeviceWaitFor::queue ? wait.queue
                                                                       : wait.device.index();
    constexpr const char* kWhat[] = {"operation", "queue", "device"};
    add(time, fmt::format("wait for {} {}", kWhat[static_cast<int>(wait.what)], object));
  }
  void device_operation(Time time, const trace::DeviceOperation& op) override {
    add(time, fmt::format("operation {} kind {} direction {} bytes {}",
                          static_cast<uint64_t>(op.operation), static_cast<int>(op.kind),
                          static_cast<int>(op.direction), op.bytes));
  }
  void fact(Time time, trace::Fact fact, uint64_t value) override {
    // How well something is known is folding_test's matter.
    if (fact == trace::Fact::samples || fact == trace::Fact::observed) return;
    add(time, fmt::format("{} {}", trace::fact_name(fact), value));
  }
  void iteration(Time time, int64_t number) override {
    add(time, fmt::format("iteration {}", number));
  }
  void recording(Time time, bool on) override { add(time, on ? "recording on" : "recording off"); }

 private:
  template <class Enum>
  static uint64_t number(Enum value) {
    return static_cast<uint64_t>(value);
  }
  /// Numbers of the assembler's own have the highest bit.
  static std::string own(uint64_t id) {
    return id >> 63 ? fmt::format("own {}", id & ~(uint64_t{1} << 63)) : fmt::format("{}", id);
  }
  static std::string of(std::optional<uint32_t> target) {
    return target ? fmt::format("{}", *target) : "all";
  }
  static std::string of(trace::TaskId task) {
    return fmt::format("{}.{}", task.creator, task.generation);
  }
  static std::string of(const MpiMessage& m) {
    std::string text =
        fmt::format("{} tag {} bytes {} comm {}", m.peer, m.tag, m.bytes, m.comm.index());
    if (m.partitioned != 0) text += fmt::format(" pair {}", m.partitioned);
    if (m.probe != trace::MatchedProbe::none) text += fmt::format(" probe {}", number(m.probe));
    return text;
  }
  static std::string of(const MpiCollective& c) {
    std::string text =
        fmt::format("collective {} comm {} root {} bytes {} {}", number(c.op), c.comm.index(),
                    c.root ? static_cast<int64_t>(*c.root) : -1, c.bytes_sent, c.bytes_received);
    if (c.sends_to.valid()) text += fmt::format(" to set {}", c.sends_to.index());
    if (c.receives_from.valid()) text += fmt::format(" from set {}", c.receives_from.index());
    return text;
  }
  void add(Time time, std::string what, RegionId region = RegionId::none()) {
    EXPECT_GE(time, last_) << "time goes backward";
    last_ = time;
    lines_.push_back({time.nanos(), stack_.size(), region, std::move(what)});
  }

  std::vector<Listing::Line>& lines_;
  std::vector<RegionId> stack_;
  Time last_;
};

}  // namespace

std::unique_ptr<trace::EventSink> Listing::open(LocationId location) {
  const trace::Location& of = definitions.locations[location.index()];
  return std::make_unique<ListingSink>(lines_[{of.process.index(), of.thread}]);
}

std::string Listing::text(const std::string& location) const {
  std::string text;
  for (const auto& [key, lines] : lines_) {
    if (fmt::format("{}.{}", key.first, key.second) != location) continue;
    for (const Line& line : lines) {
      const std::string& what =
          line.region.valid() ? definitions.regions.at(line.region.index()).name : line.what;
      text += fmt::format("{} {:{}}{}\n", line.time, "", line.depth * 2, what);
    }
  }
  return text;
}

std::string Listing::text() const {
  std::string text;
  for (const auto& [key, lines] : lines_) {
    const std::string location = fmt::format("{}.{}", key.first, key.second);
    text += location + "\n" + this->text(location);
  }
  return text;
}

}  // namespace culprit::assemble::test
