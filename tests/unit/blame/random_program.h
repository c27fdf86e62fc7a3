// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A random program and the machine that runs it: each step is something that one, two or more ranks
// do, and each location's clock says when it is through with what came before. Steps are played one
// after the other, but locations that are not part of a step do not wait for it. So every trace is
// one that could have been: nothing arrives before it was sent, nobody leaves a barrier early.
#pragma once

#include <optional>
#include <random>
#include <string_view>

#include "tests/unit/blame/random_trace.h"

namespace culprit::testing_support {

class RandomProgram {
 public:
  RandomProgram(uint32_t seed, RandomShape shape);
  RandomTrace run();

 private:
  // --- the machine (random_program.cpp). Ranks are those of the program; what they are called in
  // the trace is process_of_'s business.

  uint32_t pick(uint32_t low, uint32_t high) {
    return std::uniform_int_distribution<uint32_t>(low, high)(random_);
  }
  bool toss(uint32_t one_in = 2) { return pick(1, one_in) == 1; }
  /// How long something takes.
  int64_t last_for(uint32_t most);
  uint32_t any_rank() { return pick(0, ranks_ - 1); }
  uint32_t other_rank(uint32_t than) { return (than + pick(1, ranks_ - 1)) % ranks_; }

  void define_places();
  void define_comms();
  LocationId place(uint32_t rank, uint32_t thread) const {
    return trace_.definitions_.processes[process_of_[rank].index()].locations[thread];
  }
  LocationId master(uint32_t rank) const { return place(rank, 0); }
  int64_t& now(LocationId at) { return now_[at.index()]; }
  RegionId region(std::string_view name);

  template <class Play>
  void put(LocationId at, int64_t time, Play play) {
    trace_.events_[at.index()].push_back({Time::from_nanos(time), std::move(play)});
  }
  void enter(LocationId at, std::string_view name) {
    put(at, now(at), [r = region(name)](trace::EventSink& sink, Time t) { sink.enter(t, r); });
  }
  /// At a time that is not before the location's own.
  void leave(LocationId at, int64_t time, std::string_view name) {
    now(at) = time;
    put(at, time, [r = region(name)](trace::EventSink& sink, Time t) { sink.leave(t, r); });
  }
  void work(LocationId at);
  void step();
  void plain_step(uint32_t from);

  // --- messages (random_messages.cpp)

  /// A request that has not been completed. `ready`: not before.
  struct Pending {
    int64_t ready;
    trace::RequestId request;
    std::function<void(trace::EventSink&, Time)> complete;
  };
  enum class Sending { eager, synchronous, buffered, started, started_synchronous, ready_later };
  enum class Receiving { blocking, started, probed };

  void message(uint32_t from, uint32_t to);
  /// From and to any thread.
  void message(LocationId from, LocationId to, int32_t tag, Sending how, Receiving how_received);
  void send_receive(uint32_t a, uint32_t b);
  /// All send to the rank so many further on and receive from the one so many before, in one call.
  void shift(uint32_t by);
  trace::MpiMessage message_to(LocationId peer, int32_t tag) const;
  void send(LocationId at, const trace::MpiMessage& out, Sending how, int64_t posted);
  void receive(LocationId at, const trace::MpiMessage& in, Receiving how, int64_t sent);
  void cancelled_receive(uint32_t rank);
  /// Completes one, some or all of the pending requests of a rank, waiting or by tests.
  void complete(uint32_t rank);
  void complete_all(uint32_t rank);

  // --- collectives (random_collectives.cpp)

  struct Member {
    uint32_t rank;
    int64_t entered, ends;
    trace::MpiCollective what;
  };
  void collective();
  void between_groups();
  void play(const std::vector<Member>& members, std::string_view name, std::string_view started);
  void ends_of(trace::CollectiveOp op, uint32_t root, std::vector<Member>& members);
  void sparse_ends_of(std::vector<Member>& members);
  GroupId group_of(const std::vector<bool>& taken, const std::vector<Member>& members);

  // --- one-sided communication (random_windows.cpp)

  void one_sided();
  void fence();
  void access(uint32_t origin, uint32_t target);
  void lock(uint32_t origin, uint32_t target);
  void put_data(uint32_t origin, uint32_t target);
  void synchronise(uint32_t rank, uint32_t other, trace::RmaEpoch epoch, const char* name,
                   int64_t end);

  // --- threads (random_regions.cpp)

  struct Team {
    uint32_t rank;
    std::string_view region;
    std::vector<LocationId> members;  ///< the one that forked it first
  };
  void parallel_regions();
  void in_region(const Team& team);
  Team fork(uint32_t rank, std::string_view region, std::vector<LocationId> members);
  void nested_region(const Team& team);
  void join(const Team& team);
  LocationId any_member(const Team& team) {
    return team.members[pick(0, static_cast<uint32_t>(team.members.size()) - 1)];
  }
  void barrier(const Team& team, std::string_view name);
  void critical(const Team& team);
  void single(const Team& team);
  void tasks(const Team& team);
  int64_t run_task(trace::TaskId task, LocationId at, int64_t begin);

  // --- devices (random_devices.cpp)

  /// What a stream has executed, or will have.
  struct Executed {
    trace::OperationNumber number;
    int64_t end;
  };
  void define_streams(uint32_t rank, ProcessId process);
  void device_calls(uint32_t rank);
  Executed hand_over(uint32_t rank, const char* name, trace::DeviceOpKind kind);
  void launch(uint32_t rank, const char* call, const char* name, trace::DeviceOpKind kind);
  void blocking_copy(uint32_t rank);
  void reduce_on_devices();
  void wait_for_device(uint32_t rank);

  std::mt19937 random_;
  RandomShape shape_;
  uint32_t ranks_ = 0, threads_ = 0;
  uint32_t streams_ = 0;  // of each rank
  bool shares_device_ = false;
  std::vector<std::vector<Executed>> executed_;  // by rank
  std::vector<ProcessId> process_of_;            // by rank
  std::vector<uint32_t> rank_of_;                // by ProcessId
  std::vector<std::vector<uint32_t>>
      comms_;  // by CommId: its members; 0 is the world. Then comes one between even and odd ranks
  std::vector<int64_t> now_;                   // by LocationId, nanoseconds
  std::vector<std::vector<Pending>> pending_;  // by rank
  std::vector<int64_t> unlocked_;              // by rank: when its memory was unlocked last
  uint64_t operations_ = 0;
  uint64_t requests_ = 0, instances_ = 0, probes_ = 0;
  uint32_t tasks_ = 0;
  RandomTrace trace_;
};

}  // namespace culprit::testing_support
