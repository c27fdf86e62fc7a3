// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Two steps. While operations are at hand, all messages and collectives are listed as exchanges:
// the messages of a process between the call that began them and the call that completed them. Then
// each process is visited in order of time: before a call comes the computation since the last
// call; the operations that the call begins depend on it; later ones depend on those that the call
// completes.
#include "predict/goal/goal_program.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>

#include "base/parallel.h"
#include "predict/goal/goal_collectives.h"
#include "replay/match/messages.h"
#include "replay/model/run.h"
#include "replay/model/waits.h"

namespace culprit::predict {
namespace {

using replay::Run;

/// The part of a call that GOAL needs.
struct Visit {
  LocationId location;
  Time enter, leave;
  auto operator<=>(const Visit&) const = default;
};

Visit visit_of(LocationId location, const replay::Call& call) {
  return {location, call.enter, call.leave};
}

/// Messages that a process begins and completes together. Those of a round follow those of the
/// round before.
struct Exchange {
  struct Part {
    GoalOp op;
    uint32_t round = 0;
  };
  Visit posted, completed;
  bool completes = true;
  std::vector<Part> parts;
};

/// Exchanges by process, and the tags of their messages.
class Exchanges {
 public:
  explicit Exchanges(size_t processes) : of_(processes) {}

  uint32_t tag(ProcessId from, ProcessId to) { return tags_[{from, to}]++; }
  void add(ProcessId process, Exchange exchange) {
    of_[process.index()].push_back(std::move(exchange));
  }
  const std::vector<Exchange>& of(size_t process) const { return of_[process]; }

 private:
  std::vector<std::vector<Exchange>> of_;
  std::map<std::pair<ProcessId, ProcessId>, uint32_t> tags_;
};

// --- messages ---

struct Message {
  ProcessId from, to;
  uint64_t bytes;
  Exchange sent, received;
};

/// Lists the messages that one process received.
class MessageCollector final : public replay::MessageVisitor {
 public:
  MessageCollector(const Run& run, std::vector<Message>& messages)
      : run_(run), messages_(messages) {}

  void visit(const replay::MatchedMessage& message) override {
    const replay::SentMessage& sent = message.sent;
    const replay::CallRef posted = run_.ref(message.receiver, message.recv.posted),
                          completed = run_.ref(message.receiver, message.recv.completed);
    Message each{run_.location(sent.met_at).process,
                 run_.location(message.receiver).process,
                 message.recv.bytes,
                 {},
                 {}};
    each.sent.posted = visit_of(sent.met_at, sent.met);
    each.sent.completes = sent.completed_at.valid();
    if (each.sent.completes) each.sent.completed = visit_of(sent.completed_at, sent.completed);
    each.received.posted = visit_of(posted.location, run_.call(posted));
    each.received.completed = visit_of(completed.location, run_.call(completed));
    messages_.push_back(std::move(each));
  }

 private:
  const Run& run_;
  std::vector<Message>& messages_;
};

void list_messages(const Run& run, unsigned threads, Exchanges& exchanges) {
  std::vector<std::vector<Message>> received(run.definitions->processes.size());
  Losses told;  // by the detectors
  replay::match_messages(
      run, threads,
      [&](ProcessId process) -> std::unique_ptr<replay::MessageVisitor> {
        return std::make_unique<MessageCollector>(run, received[process.index()]);
      },
      told);
  for (std::vector<Message>& messages : received) {
    for (Message& each : messages) {
      const uint32_t tag = exchanges.tag(each.from, each.to);
      const auto from = static_cast<uint32_t>(each.from.index()),
                 to = static_cast<uint32_t>(each.to.index());
      each.sent.parts = {{{GoalOp::Kind::send, each.bytes, to, tag}, 0}};
      each.received.parts = {{{GoalOp::Kind::recv, each.bytes, from, tag}, 0}};
      exchanges.add(each.from, std::move(each.sent));
      exchanges.add(each.to, std::move(each.received));
    }
  }
}

// --- collectives ---

/// Sizes of a location's collectives, in the order in which replay lists them.
class SizesSink final : public trace::EventSink {
 public:
  SizesSink(const trace::Definitions& definitions, std::vector<CollectiveBytes>& sizes)
      : definitions_(definitions), sizes_(sizes) {}
  void mpi_collective(Time, const trace::MpiCollective& what) override { add(what); }
  void mpi_icollective_complete(Time, const trace::MpiCollective& what, trace::RequestId) override {
    add(what);
  }
  void rma_collective(Time, const trace::RmaCollective& what) override {
    using Op = trace::CollectiveOp;
    const CommId comm = definitions_.windows[what.window.index()].comm;
    const bool known = comm.valid() && comm.index() < definitions_.comms.size();
    if (known &&
        (what.op == Op::create_handle || what.op == Op::destroy_handle || what.op == Op::barrier)) {
      sizes_.push_back({});
    }
  }

 private:
  void add(const trace::MpiCollective& what) {
    sizes_.push_back({what.bytes_sent, what.bytes_received});
  }
  const trace::Definitions& definitions_;
  std::vector<CollectiveBytes>& sizes_;
};

using Sizes = std::vector<std::vector<CollectiveBytes>>;  ///< by LocationId

Sizes collective_sizes(const trace::Source& source, const Run& run, unsigned threads) {
  Sizes sizes(run.timelines.size());
  parallel_for(run.locations.size(), threads, [&](size_t i) {
    const LocationId id = run.locations[i];
    if (run.at(id).collectives.empty()) return;
    SizesSink sink(source.definitions(), sizes[id.index()]);
    Losses told;  // counted already when the run was read
    if (!source.read(id, sink, told)) sizes[id.index()].clear();
    sizes[id.index()].resize(run.at(id).collectives.size());
  });
  return sizes;
}

/// An operation: its members, and the messages between them.
struct Operation {
  struct Member {
    ProcessId process;
    Visit posted, completed;
  };
  std::vector<Member> members;
  std::vector<Transfer> transfers;
};

class Conductor final : public replay::OperationVisitor {
 public:
  Conductor(const Run& run, const replay::CollectiveShapes& shapes, const Sizes& sizes,
            std::vector<Operation>& operations)
      : run_(run), shapes_(shapes), sizes_(sizes), operations_(operations) {}

  void visit(std::span<const replay::Part> parts) override {
    std::vector<CollectiveBytes> bytes;
    for (const replay::Part& part : parts) bytes.push_back(size_of(part));
    Operation operation{{}, transfers_of(shapes_, parts, bytes)};
    if (operation.transfers.empty()) return;
    for (const replay::Part& part : parts) {
      operation.members.push_back({run_.location(part.location).process,
                                   visit_of(part.posted_by, part.posted),
                                   visit_of(part.location, part.completed)});
    }
    operations_.push_back(std::move(operation));
  }

 private:
  /// There is one analysis rank: a part refers to its location's own operation.
  CollectiveBytes size_of(const replay::Part& part) const {
    const auto& all = run_.at(part.location).collectives;
    CULPRIT_CHECK(part.op >= all.begin() && part.op < all.end());
    return sizes_[part.location.index()][static_cast<size_t>(part.op - all.begin())];
  }

  const Run& run_;
  const replay::CollectiveShapes& shapes_;
  const Sizes& sizes_;
  std::vector<Operation>& operations_;
};

void add_operation(const Operation& operation, Exchanges& exchanges) {
  std::vector<Exchange> of(operation.members.size());
  for (const Transfer& each : operation.transfers) {
    const ProcessId from = operation.members[each.from].process,
                    to = operation.members[each.to].process;
    const uint32_t tag = exchanges.tag(from, to);
    of[each.from].parts.push_back(
        {{GoalOp::Kind::send, each.bytes, static_cast<uint32_t>(to.index()), tag}, each.round});
    of[each.to].parts.push_back(
        {{GoalOp::Kind::recv, each.bytes, static_cast<uint32_t>(from.index()), tag}, each.round});
  }
  for (size_t i = 0; i < of.size(); ++i) {
    if (of[i].parts.empty()) continue;
    of[i].posted = operation.members[i].posted;
    of[i].completed = operation.members[i].completed;
    std::stable_sort(of[i].parts.begin(), of[i].parts.end(),
                     [](const auto& a, const auto& b) { return a.round < b.round; });
    exchanges.add(operation.members[i].process, std::move(of[i]));
  }
}

void list_collectives(const Run& run, const Sizes& sizes, unsigned threads, Exchanges& exchanges) {
  const replay::CollectiveShapes shapes(run);
  std::vector<std::vector<Operation>> shares;
  Losses told;  // by the detectors
  replay::match_collectives(run, threads,
                            {[&](size_t count) { shares.resize(count); },
                             [&](size_t share) -> std::unique_ptr<replay::OperationVisitor> {
                               return std::make_unique<Conductor>(run, shapes, sizes,
                                                                  shares[share]);
                             }},
                            told);
  for (const std::vector<Operation>& operations : shares) {
    for (const Operation& operation : operations) add_operation(operation, exchanges);
  }
}

// --- a process in time ---

/// The exchanges that a call begins and completes, by index.
struct CallExchanges {
  std::vector<uint32_t> posts, completes;
};

/// A call is entered, or left. At equal times, calls that were entered earlier are left first.
struct Moment {
  Time time;
  bool later;      ///< entered at this very time
  uint32_t visit;  ///< by order of time
  bool leave;
  auto operator<=>(const Moment&) const = default;
};

class Walk {
 public:
  Walk(const Run& run, ProcessId process, const std::vector<Exchange>& exchanges)
      : run_(run), exchanges_(exchanges), bounds_(exchanges.size()), since_(run.begin) {
    for (uint32_t i = 0; i < exchanges.size(); ++i) {
      duties_[exchanges[i].posted].posts.push_back(i);
      if (exchanges[i].completes) duties_[exchanges[i].completed].completes.push_back(i);
    }
    for (LocationId id : run.definitions->processes[process.index()].locations) {
      if (!run.is_stream(id) && !run.at(id).empty()) end_ = std::max(end_, run.at(id).last);
    }
  }

  GoalProcess write() && {
    std::vector<const std::pair<const Visit, CallExchanges>*> visits;
    for (const auto& each : duties_) visits.push_back(&each);
    std::stable_sort(visits.begin(), visits.end(),
                     [](const auto* a, const auto* b) { return a->first.enter < b->first.enter; });
    std::vector<Moment> moments;
    for (uint32_t i = 0; i < visits.size(); ++i) {
      const Visit& visit = visits[i]->first;
      moments.push_back({visit.enter, true, i, false});
      moments.push_back({visit.leave, visit.leave == visit.enter, i, true});
    }
    std::sort(moments.begin(), moments.end());
    for (const Moment& moment : moments) {
      const auto& [visit, exchanges] = *visits[moment.visit];
      moment.leave ? leave(visit, exchanges) : enter(visit, exchanges);
    }
    if (end_ > since_) compute(end_, LocationId::none());
    return std::move(process_);
  }

 private:
  /// The operations of an exchange's first and last round.
  struct Bounds {
    uint32_t first_begin = 0, first_end = 0, last_begin = 0, last_end = 0;
  };

  uint32_t add(const GoalOp& op) {
    process_.ops.push_back(op);
    return static_cast<uint32_t>(process_.ops.size() - 1);
  }

  /// Adds the computation from the last moment to `until`, less the time in which `location`
  /// polled, even if another thread was in a call meanwhile.
  void compute(Time until, LocationId location) {
    Duration time = until > since_ ? until - since_ : Duration::zero();
    if (location.valid() && time > Duration::zero()) time -= polled(location, since_, until);
    const uint32_t op = add({GoalOp::Kind::calc, static_cast<uint64_t>(time.nanos()), 0, 0});
    for (const auto& [on, to_begin] : front_) process_.dependencies.push_back({op, on, to_begin});
    front_ = {{op, false}};
    since_ = std::max(since_, until);
  }

  Duration polled(LocationId location, Time from, Time to) const {
    const replay::Activities& all = run_.at(location).activities;
    Duration sum;
    for (size_t i = all.after(from); i < all.size() && all.begin(i) < to; ++i) {
      const CallPathId path = all.path(i);
      if (!path.valid() || !run_.polls[path.index()]) continue;
      const Time begin = std::max(all.begin(i), from), end = std::min(all.end(i), to);
      if (end > begin) sum += end - begin;
    }
    return sum;
  }

  void enter(const Visit& visit, const CallExchanges& exchanges) {
    compute(visit.enter, visit.location);
    const uint32_t before = front_.front().on;
    for (const uint32_t index : exchanges.posts) {
      bounds_[index] = post(exchanges_[index], before);
      for (uint32_t op = bounds_[index].first_begin; op < bounds_[index].first_end; ++op) {
        front_.push_back({op, true});
      }
    }
  }

  Bounds post(const Exchange& exchange, uint32_t before) {
    Bounds bounds;
    uint32_t round_begin = before, round_end = before + 1;
    for (size_t i = 0; i < exchange.parts.size();) {
      const auto begin = static_cast<uint32_t>(process_.ops.size());
      const size_t first = i;
      for (; i < exchange.parts.size() && exchange.parts[i].round == exchange.parts[first].round;
           ++i) {
        const uint32_t op = add(exchange.parts[i].op);
        for (uint32_t on = round_begin; on < round_end; ++on) {
          process_.dependencies.push_back({op, on, false});
        }
      }
      round_begin = begin;
      round_end = static_cast<uint32_t>(process_.ops.size());
      if (first == 0) bounds.first_begin = begin, bounds.first_end = round_end;
    }
    bounds.last_begin = round_begin;
    bounds.last_end = round_end;
    return bounds;
  }

  void leave(const Visit& visit, const CallExchanges& exchanges) {
    for (const uint32_t index : exchanges.completes) {
      // An operation that is complete has also begun.
      std::erase_if(front_, [&](const Front& each) {
        return each.to_begin && each.on >= bounds_[index].first_begin &&
               each.on < bounds_[index].first_end;
      });
      for (uint32_t op = bounds_[index].last_begin; op < bounds_[index].last_end; ++op) {
        front_.push_back({op, false});
      }
    }
    since_ = std::max(since_, visit.leave);
  }

  struct Front {
    uint32_t on;
    bool to_begin;
  };

  const Run& run_;
  const std::vector<Exchange>& exchanges_;
  std::map<Visit, CallExchanges> duties_;
  std::vector<Bounds> bounds_;  ///< by exchange, once it is posted
  std::vector<Front> front_;    ///< what the next computing depends on
  Time since_, end_ = Time::min();
  GoalProcess process_;
};

}  // namespace

Result<std::vector<GoalProcess>> goal_program(const trace::Source& source, unsigned threads,
                                              Losses& losses) {
  threads = thread_count(threads);
  Alone alone;
  auto read = replay::read_run(source, alone, threads);
  if (!read) return read.error();
  Run& run = *read;
  const size_t count = run.definitions->processes.size();
  Exchanges exchanges(count);
  const Sizes sizes = collective_sizes(source, run, threads);
  replay::detect_waits(run, threads, {}, nullptr, [&] {
    list_messages(run, threads, exchanges);
    list_collectives(run, sizes, threads, exchanges);
  });
  std::vector<GoalProcess> processes(count);
  parallel_for(count, threads,
               [&](size_t p) { processes[p] = Walk(run, ProcessId(p), exchanges.of(p)).write(); });
  losses.merge(run.losses);
  return processes;
}

}  // namespace culprit::predict
