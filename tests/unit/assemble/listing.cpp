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
  void mpi_request_cancelled(Time time, RequestId r) override {
    add(time, fmt::format("cancelled {}", number(r)));
  }
  void mpi_collective(Time time, const MpiCollective& c) override { add(time, of(c)); }
  void mpi_icollective_request(Time time, RequestId r) override {
    add(time, fmt::format("icoll_request {}", number(r)));
  }
  void mpi_icollective_complete(Time time, const MpiCollective& c, RequestId r) override {
    add(time, fmt::format("icoll {} {}", number(r), of(c)));
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

 private:
  template <class Enum>
  static uint64_t number(Enum value) {
    return static_cast<uint64_t>(value);
  }
  static std::string of(const MpiMessage& m) {
    return fmt::format("{} tag {} bytes {} comm {}", m.peer, m.tag, m.bytes, m.comm.index());
  }
  static std::string of(const MpiCollective& c) {
    return fmt::format("collective {} comm {} root {} bytes {} {}", number(c.op), c.comm.index(),
                       c.root ? static_cast<int64_t>(*c.root) : -1, c.bytes_sent, c.bytes_received);
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

std::unique_ptr<trace::EventSink> Listing::open(ProcessId process, uint32_t thread) {
  const std::lock_guard lock(mutex_);
  return std::make_unique<ListingSink>(lines_[{process.index(), thread}]);
}

Result<void> Listing::finish(const trace::Definitions& given, uint64_t origin_realtime_ns) {
  definitions = given;
  origin = origin_realtime_ns;
  return {};
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
