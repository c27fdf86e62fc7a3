// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "tests/unit/blame/oracle.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

namespace culprit::testing_support {

namespace {

using trace::CollectiveOp;

struct Visit {
  int64_t enter = 0, leave = 0;
  std::string path, name;
};

/// A call of a rank, by its place in Lane::visits.
struct Call {
  size_t rank, visit;
};

struct Segment {
  int64_t begin, end;
  std::string path;
};

struct Wait {
  int64_t begin, end;
  size_t cause;
  std::string path;
};

struct Lane {
  std::vector<Visit> visits;
  std::vector<Segment> segments;  ///< tile the run
  std::vector<Wait> waits;        ///< in order, not overlapping
};

struct Message {
  Call posted, completed;
  bool is_complete = false;
};
/// Communicator, sender, receiver, tag.
using Channel = std::tuple<size_t, size_t, size_t, int32_t>;

struct Part {
  Call posted, completed;
  trace::MpiCollective what;
};

/// All of a trace that matters here.
struct World {
  std::vector<Lane> lanes;
  std::map<Channel, std::vector<Message>> sends, receives;       // in the order of posting
  std::map<std::pair<size_t, size_t>, std::vector<Part>> parts;  // by communicator and rank
  int64_t begin = INT64_MAX, end = INT64_MIN;
  size_t last = 0;

  const Visit& at(Call call) const { return lanes[call.rank].visits[call.visit]; }
};

class Reader final : public trace::EventSink {
 public:
  Reader(const trace::Definitions& definitions, size_t rank, World& world)
      : definitions_(definitions), rank_(rank), world_(world), lane_(world.lanes[rank]) {}

  void enter(Time time, RegionId region) override {
    cut(time);
    const std::string& name = definitions_.regions[region.index()].name;
    open_.push_back(lane_.visits.size());
    lane_.visits.push_back({time.nanos(), 0, path().empty() ? name : path() + "/" + name, name});
    path_.push_back(lane_.visits.back().path);
  }
  void leave(Time time, RegionId) override {
    cut(time);
    lane_.visits[open_.back()].leave = time.nanos();
    open_.pop_back();
    path_.pop_back();
  }
  void mpi_send(Time, const trace::MpiMessage& message) override {
    world_.sends[to(message)].push_back({call(), call(), true});
  }
  void mpi_isend(Time, const trace::MpiMessage& message, trace::RequestId request) override {
    std::vector<Message>& list = world_.sends[to(message)];
    sends_[request] = {to(message), list.size()};
    list.push_back({call(), {}, false});
  }
  void mpi_isend_complete(Time, trace::RequestId request) override {
    const auto& [channel, place] = sends_.at(request);
    world_.sends[channel][place].completed = call();
    world_.sends[channel][place].is_complete = true;
  }
  void mpi_recv(Time, const trace::MpiMessage& message) override {
    world_.receives[from(message)].push_back({call(), call(), true});
  }
  void mpi_irecv_request(Time, trace::RequestId request) override { posts_[request] = call(); }
  void mpi_irecv(Time, const trace::MpiMessage& message, trace::RequestId request) override {
    world_.receives[from(message)].push_back({posts_.at(request), call(), true});
  }
  void mpi_collective(Time, const trace::MpiCollective& what) override {
    add({call(), call(), what});
  }
  void mpi_icollective_request(Time, trace::RequestId request) override {
    posts_[request] = call();
  }
  void mpi_icollective_complete(Time, const trace::MpiCollective& what,
                                trace::RequestId request) override {
    add({posts_.at(request), call(), what});
  }

 private:
  Call call() const { return {rank_, open_.back()}; }
  std::string path() const { return path_.empty() ? std::string() : path_.back(); }
  void cut(Time time) {
    const std::string where = lane_.segments.empty() ? "(not started)"
                              : path_.empty()        ? "(outside)"
                                                     : path_.back();
    const int64_t begin = lane_.segments.empty() ? INT64_MIN : lane_.segments.back().end;
    lane_.segments.push_back({begin, time.nanos(), where});
  }
  void add(const Part& part) { world_.parts[{part.what.comm.index(), rank_}].push_back(part); }
  /// Which rank a member of a communicator is here: the number of its only location.
  size_t world_rank(CommId comm, uint32_t peer) const {
    const ProcessId process = definitions_.comms[comm.index()].members[peer];
    return definitions_.processes[process.index()].locations.front().index();
  }
  Channel to(const trace::MpiMessage& m) const {
    return {m.comm.index(), rank_, world_rank(m.comm, m.peer), m.tag};
  }
  Channel from(const trace::MpiMessage& m) const {
    return {m.comm.index(), world_rank(m.comm, m.peer), rank_, m.tag};
  }

  const trace::Definitions& definitions_;
  const size_t rank_;
  World& world_;
  Lane& lane_;
  std::vector<size_t> open_;
  std::vector<std::string> path_;
  std::map<trace::RequestId, std::pair<Channel, size_t>> sends_;
  std::map<trace::RequestId, Call> posts_;
};

World read(const trace::Source& trace) {
  World world;
  const trace::Definitions& definitions = trace.definitions();
  world.lanes.resize(definitions.locations.size());
  Losses losses;
  for (size_t rank = 0; rank < world.lanes.size(); ++rank) {
    Reader reader(definitions, rank, world);
    (void)trace.read(LocationId(rank), reader, losses);
    const Lane& lane = world.lanes[rank];
    world.begin = std::min(world.begin, lane.segments.front().end);
    if (lane.segments.back().end >= world.end)
      world.end = lane.segments.back().end, world.last = rank;
  }
  for (Lane& lane : world.lanes) {
    lane.segments.front().begin = world.begin;
    lane.segments.push_back({lane.segments.back().end, world.end, "(ended)"});
  }
  // The order of posting; requests were noted when they were completed.
  for (auto& [channel, list] : world.receives) {
    std::sort(list.begin(), list.end(),
              [](const Message& a, const Message& b) { return a.posted.visit < b.posted.visit; });
  }
  for (auto& [key, list] : world.parts) {
    std::sort(list.begin(), list.end(),
              [](const Part& a, const Part& b) { return a.posted.visit < b.posted.visit; });
  }
  return world;
}

// --- waits and synchronizations
// -----------------------------------------------------------------------

class Finder {
 public:
  Finder(const trace::Definitions& definitions, World& world)
      : definitions_(definitions), world_(world) {}

  /// The moments in which two met, in order.
  std::map<std::pair<size_t, size_t>, std::vector<int64_t>> find() {
    for (const auto& [channel, receives] : world_.receives) {
      const std::vector<Message>& sends = world_.sends[channel];
      for (size_t i = 0; i < receives.size(); ++i) match(sends[i], receives[i]);
    }
    std::map<size_t, size_t> most;  // of each communicator: how many operations
    for (const auto& [key, list] : world_.parts) {
      most[key.first] = std::max(most[key.first], list.size());
    }
    for (const auto& [comm, count] : most) {
      for (size_t n = 0; n < count; ++n) collective(comm, n);
    }
    settle();
    return std::move(met_);
  }

 private:
  void match(const Message& send, const Message& receive) {
    const Visit &sent = world_.at(send.posted), &posted = world_.at(receive.posted);
    late(receive.completed, sent.enter, send.posted.rank);
    const bool buffers = sent.name == "MPI_Bsend";
    if (!send.is_complete || buffers) return;
    const Visit& completed = world_.at(send.completed);
    if (posted.enter < completed.leave) late(send.completed, posted.enter, receive.posted.rank);
  }

  /// A call had to wait until then, if that was after its enter.
  void late(Call call, int64_t until, size_t cause) {
    const Visit& visit = world_.at(call);
    until = std::min(until, visit.leave);
    if (until <= visit.enter || cause == call.rank) return;
    late_[{call.rank, call.visit}].emplace_back(until, cause);
    meet(call.rank, cause, until);
  }
  void meet(size_t a, size_t b, int64_t moment) {
    met_[{a, b}].push_back(moment);
    met_[{b, a}].push_back(moment);
  }

  int64_t entered(const Part& part) const { return world_.at(part.posted).enter; }
  int64_t waits_from(const Part& part) const { return world_.at(part.completed).enter; }

  void collective(size_t comm, size_t number) {
    std::vector<const Part*> parts;  // by rank in the communicator
    for (ProcessId member : definitions_.comms[comm].members) {
      const size_t rank = definitions_.processes[member.index()].locations.front().index();
      parts.push_back(&world_.parts.at({comm, rank})[number]);
    }
    switch (parts[0]->what.op) {
      case CollectiveOp::bcast:
      case CollectiveOp::scatter:
        return from_root(parts);
      case CollectiveOp::reduce:
      case CollectiveOp::gather:
        return to_root(parts);
      case CollectiveOp::scan:
      case CollectiveOp::exscan:
        return prefix(parts);
      case CollectiveOp::alltoallv:
      case CollectiveOp::neighbor:
        return sparse(parts);
      default:
        return all(parts);
    }
  }

  void from_root(const std::vector<const Part*>& parts) {
    const Part& root = *parts[*parts[0]->what.root];
    for (const Part* part : parts) {
      if (part != &root) late(part->completed, entered(root), root.posted.rank);
    }
  }
  /// Who was not the last met the root all the same.
  void to_root(const std::vector<const Part*>& parts) {
    const Part& root = *parts[*parts[0]->what.root];
    for (const Part* part : parts) {
      if (part != &root) late(root.completed, entered(*part), part->posted.rank);
    }
  }
  void prefix(const std::vector<const Part*>& parts) {
    for (size_t i = 1; i < parts.size(); ++i) {
      const Part* latest = parts[0];
      for (size_t j = 1; j < i; ++j) {
        if (entered(*parts[j]) > entered(*latest)) latest = parts[j];
      }
      late(parts[i]->completed, entered(*latest), latest->posted.rank);
    }
  }
  void sparse(const std::vector<const Part*>& parts) {
    const auto contains = [&](GroupId group, const Part& part) {
      const auto& members = definitions_.groups[group.index()].members;
      const ProcessId process = definitions_.locations[part.posted.rank].process;
      return std::find(members.begin(), members.end(), process) != members.end();
    };
    for (const Part* taker : parts) {
      for (const Part* giver : parts) {
        if (giver == taker || !contains(giver->what.sends_to, *taker)) continue;
        if (!contains(taker->what.receives_from, *giver)) continue;
        late(taker->completed, entered(*giver), giver->posted.rank);
      }
    }
  }
  /// Everybody waits for the last; once anybody did, all have met.
  void all(const std::vector<const Part*>& parts) {
    const Part* last = parts[0];
    for (const Part* part : parts) {
      if (entered(*part) > entered(*last)) last = part;
    }
    const bool waited = std::any_of(parts.begin(), parts.end(), [&](const Part* part) {
      return waits_from(*part) < entered(*last);
    });
    if (!waited) return;
    for (const Part* part : parts) {
      if (part == last || waits_from(*part) >= entered(*last)) continue;
      late_[{part->completed.rank, part->completed.visit}].emplace_back(entered(*last),
                                                                        last->posted.rank);
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        meet(parts[i]->posted.rank, parts[j]->posted.rank, entered(*last));
      }
    }
  }

  /// A call waits once, for the last to come; who has ended waits for the end of the run.
  void settle() {
    for (auto& [call, list] : late_) {
      const auto& [until, cause] = *std::max_element(list.begin(), list.end());
      const Visit& visit = world_.at({call.first, call.second});
      world_.lanes[call.first].waits.push_back({visit.enter, until, cause, visit.path});
    }
    for (size_t rank = 0; rank < world_.lanes.size(); ++rank) {
      const Segment& ended = world_.lanes[rank].segments.back();
      if (ended.begin == ended.end) continue;
      world_.lanes[rank].waits.push_back({ended.begin, ended.end, world_.last, ended.path});
    }
    for (Lane& lane : world_.lanes) {
      std::sort(lane.waits.begin(), lane.waits.end(),
                [](const Wait& a, const Wait& b) { return a.begin < b.begin; });
    }
    for (auto& [pair, moments] : met_) std::sort(moments.begin(), moments.end());
  }

  const trace::Definitions& definitions_;
  World& world_;
  std::map<std::pair<size_t, size_t>, std::vector<int64_t>> met_;
  std::map<std::pair<size_t, size_t>, std::vector<std::pair<int64_t, size_t>>> late_;  // by call
};

// --- what explains them -----------------------------------------------------------------------

/// What of [begin, end) lies in a thing that has one of its own.
template <class Thing>
int64_t inside(const Thing& thing, int64_t begin, int64_t end) {
  return std::max<int64_t>(0, std::min(thing.end, end) - std::max(thing.begin, begin));
}

std::map<std::string, int64_t> work(const Lane& lane, int64_t begin, int64_t end) {
  std::map<std::string, int64_t> time;
  for (const Segment& segment : lane.segments) time[segment.path] += inside(segment, begin, end);
  for (const Wait& wait : lane.waits) time[wait.path] -= inside(wait, begin, end);
  return time;
}

}  // namespace

OracleAnswer ask_oracle(const trace::Source& trace) {
  World world = read(trace);
  const auto met = Finder(trace.definitions(), world).find();
  std::vector<std::tuple<int64_t, size_t, size_t>> order;  // end, rank, which wait
  std::vector<std::vector<double>> later(world.lanes.size());
  OracleAnswer answer;
  for (size_t rank = 0; rank < world.lanes.size(); ++rank) {
    const std::vector<Wait>& waits = world.lanes[rank].waits;
    later[rank].resize(waits.size());
    for (size_t w = 0; w < waits.size(); ++w) order.emplace_back(waits[w].end, rank, w);
  }
  std::sort(order.rbegin(), order.rend());
  for (const auto& [end, p, n] : order) {
    const Wait& wait = world.lanes[p].waits[n];
    const Lane& late = world.lanes[wait.cause];
    int64_t begin = world.begin;
    if (const auto pair = met.find({p, wait.cause}); pair != met.end()) {
      const auto next = std::upper_bound(pair->second.begin(), pair->second.end(), wait.begin);
      if (next != pair->second.begin()) begin = std::prev(next)[0];
    }
    std::map<std::string, int64_t> mine = work(world.lanes[p], begin, wait.begin);
    std::map<std::string, int64_t> excess;
    int64_t known = 0;
    for (const auto& [path, time] : work(late, begin, end)) {
      if (time > mine[path]) excess[path] = time - mine[path], known += time - mine[path];
    }
    int64_t waited = 0, waited_more = 0;
    for (const Wait& inner : late.waits) waited += inside(inner, begin, end);
    waited_more = waited;
    for (const Wait& own : world.lanes[p].waits) waited_more -= inside(own, begin, wait.begin);
    waited_more = std::max<int64_t>(0, waited_more);
    known += waited_more;
    const int64_t length = wait.end - wait.begin;
    ++answer.waits;
    answer.waiting_s[p] += static_cast<double>(length) * 1e-9;
    if (length > known) ++answer.unexplained;
    const double cost = static_cast<double>(length) + later[p][n];
    if (known <= 0) {
      answer.unattributed_s += cost * 1e-9;
      continue;
    }
    const double share = cost / static_cast<double>(known);
    for (const auto& [path, time] : excess) {
      answer.costs_s[{path, wait.cause}] += static_cast<double>(time) * share * 1e-9;
    }
    if (waited_more == 0) continue;
    const double part = static_cast<double>(waited_more) / static_cast<double>(waited) * share;
    for (size_t l = 0; l < late.waits.size(); ++l) {
      later[wait.cause][l] += static_cast<double>(inside(late.waits[l], begin, end)) * part;
    }
  }
  return answer;
}

}  // namespace culprit::testing_support
