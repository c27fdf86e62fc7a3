// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Traces of which random programs make none: with locations that are missing, with very many
// operations on one communicator, with messages that threads confuse.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "tests/unit/blame/random_trace.h"
#include "trace/objects.h"

namespace culprit::testing_support {

/// A trace of which some locations cannot be read, and others say nothing.
class DamagedTrace final : public trace::Source {
 public:
  enum class Damage { none, empty, unreadable };
  DamagedTrace(const RandomTrace& trace, std::function<Damage(const trace::Location&)> damage)
      : trace_(trace), damage_(std::move(damage)) {}

  const trace::Definitions& definitions() const override { return trace_.definitions(); }
  Result<void> read(LocationId id, trace::EventSink& sink, Losses& losses) const override {
    switch (damage_(definitions().locations[id.index()])) {
      case Damage::unreadable:
        return Error{"its file is missing"};
      case Damage::empty:
        return {};
      case Damage::none:
        break;
    }
    return trace_.read(id, sink, losses);
  }

 private:
  const RandomTrace& trace_;
  std::function<Damage(const trace::Location&)> damage_;
};

/// Processes that do what a test has them do, with their threads.
class PlayedTrace : public trace::Source {
 public:
  const trace::Definitions& definitions() const override { return definitions_; }

 protected:
  PlayedTrace(uint32_t processes, uint32_t threads, const char* call) {
    definitions_.regions = {{"main", trace::RegionRole::function, trace::Paradigm::user, {}, 0},
                            {call, trace::RegionRole::function, trace::Paradigm::mpi, {}, 0}};
    trace::Comm world{"world", trace::CommKind::mpi_world, {}, {}};
    for (uint32_t p = 0; p < processes; ++p) {
      definitions_.processes.push_back({"rank", "node", p, {}});
      for (uint32_t t = 0; t < threads; ++t) {
        definitions_.processes[p].locations.emplace_back(definitions_.locations.size());
        definitions_.locations.push_back(
            {"thread", trace::LocationKind::cpu_thread, ProcessId(p), t, 0, 0});
      }
      world.members.emplace_back(p);
    }
    definitions_.comms.push_back(std::move(world));
  }
  static constexpr RegionId kMain{0}, kCall{1};

 private:
  trace::Definitions definitions_;
};

/// Many operations on one communicator: more than one rank visits at once. One process leaves
/// halfway.
class ManyBarriers final : public PlayedTrace {
 public:
  ManyBarriers() : PlayedTrace(5, 1, "MPI_Barrier") {}
  Result<void> read(LocationId id, trace::EventSink& sink, Losses&) const override {
    const auto p = static_cast<int64_t>(id.index());
    const int64_t barriers = p == 2 ? 4000 : 8000;
    const auto at = [](int64_t time) { return Time::from_nanos(time); };
    sink.enter(at(0), kMain);
    for (int64_t b = 0; b < barriers; ++b) {
      // All are there at 50 after the barrier's begin.
      sink.enter(at(100 * b + (11 * p + 13 * b) % 50), kCall);
      sink.mpi_collective(at(100 * b + 50 + p), {trace::CollectiveOp::barrier, CommId(0), {}});
      sink.leave(at(100 * b + 50 + p), kCall);
    }
    sink.leave(at(100 * barriers), kMain);
    return {};
  }
};

/// Threads of some processes send to those of others at the same time and with the same tag: which
/// message is which, only some lengths tell. One process receives all on one thread.
class OneTag final : public PlayedTrace {
 public:
  explicit OneTag(uint32_t seed) : PlayedTrace(4, 3, "MPI_Call"), seed_(seed) {}
  Result<void> read(LocationId id, trace::EventSink& sink, Losses&) const override {
    const trace::Location& location = definitions().locations[id.index()];
    const auto process = static_cast<uint32_t>(location.process.index());
    std::mt19937 random(seed_ * 100 + static_cast<uint32_t>(id.index()));
    int64_t now = 0;
    const auto later = [&] { return Time::from_nanos(now += random() % 90); };
    sink.enter(later(), kMain);
    const int calls = process < 3 ? 40 : location.thread == 0 ? 120 : 0;
    for (int i = 0; i < calls; ++i) {
      sink.enter(later(), kCall);
      const trace::MpiMessage message{CommId(0), (process + 2) % 4, 7, 8 * (1 + random() % 3)};
      if (process < 2) {
        sink.mpi_send(later(), message);
      } else {
        sink.mpi_recv(later(), message);
      }
      sink.leave(later(), kCall);
    }
    sink.leave(later(), kMain);
    return {};
  }

 private:
  uint32_t seed_;
};

/// Processes in a ring, each of which computes, writes to its pipe, and reads from the pipe of the
/// one before, again and again.
class RingOfPipes final : public PlayedTrace {
 public:
  explicit RingOfPipes(uint32_t seed) : PlayedTrace(kProcesses, 1, "read") {
    std::mt19937 random(seed);
    std::vector<int64_t> now(kProcesses, 0);
    for (std::vector<Turn>& turns : turns_) {
      turns.resize(kProcesses);
      for (uint32_t p = 0; p < kProcesses; ++p) turns[p].wrote = now[p] + 1 + random() % 90;
      for (uint32_t p = 0; p < kProcesses; ++p) {
        now[p] = turns[p].has_read = std::max(turns[p].wrote + 5, turns[before(p)].wrote + 2);
      }
    }
  }
  Result<void> read(LocationId id, trace::EventSink& sink, Losses&) const override {
    const auto p = static_cast<uint32_t>(id.index());
    const auto at = [](int64_t time) { return Time::from_nanos(time); };
    const auto pipe = [](uint32_t of) { return object_of(trace::ObjectKind::pipe, of); };
    sink.enter(at(0), kMain);
    for (const std::vector<Turn>& turns : turns_) {
      sink.fact(at(turns[p].wrote), trace::Fact::woke, pipe(p));
      sink.enter(at(turns[p].wrote + 1), kCall);
      sink.fact(at(turns[p].has_read), trace::Fact::awaited, pipe(before(p)));
      sink.leave(at(turns[p].has_read), kCall);
    }
    sink.leave(at(turns_[kTurns - 1][p].has_read + 10), kMain);
    return {};
  }

 private:
  static constexpr uint32_t kProcesses = 6;
  static constexpr size_t kTurns = 30;
  static uint32_t before(uint32_t process) { return (process + kProcesses - 1) % kProcesses; }
  struct Turn {
    int64_t wrote = 0, has_read = 0;
  };
  std::array<std::vector<Turn>, kTurns> turns_;  ///< by process
};

}  // namespace culprit::testing_support
