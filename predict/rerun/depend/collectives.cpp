// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Collective operations: the end for a member comes after the begin of the members that it gets
// data from (replay/match/collective_shapes.h). Where every member waits for all, and along a
// prefix, one hub stands for all pairs.
#include <algorithm>
#include <memory>
#include <mutex>

#include "base/flat_map.h"
#include "predict/rerun/depend/routes.h"
#include "predict/rerun/dependences.h"
#include "replay/match/collective_shapes.h"

namespace culprit::predict {

namespace {

using replay::CollectiveShapes;
using replay::Part;
using replay::Run;
using replay::Shape;

/// The operations of one share.
class Operations final : public replay::OperationVisitor {
 public:
  Operations(const Run& run, const CollectiveShapes& shapes, const Routes& routes, Dependences& all,
             std::mutex& mutex)
      : run_(run), shapes_(shapes), routes_(routes), all_(all), mutex_(mutex), own_(part_of(all)) {}
  ~Operations() override {
    const std::lock_guard lock(mutex_);
    all_.append(std::move(own_));
  }
  Operations(const Operations&) = delete;
  Operations& operator=(const Operations&) = delete;

  void visit(std::span<const Part> parts) override {
    if (parts.size() < 2) return;  // a single member waits for no other
    const replay::CollectiveKind kind = shapes_.of(parts);
    switch (kind.shape) {
      case Shape::fence:
        return visit_all(parts, kind.may_leave_early);
      case Shape::barrier:
      case Shape::all_to_all:
        if (parts[0].op->op == trace::CollectiveOp::create_handle ||
            !CollectiveShapes::sparse(parts) || CollectiveShapes::left_together(parts)) {
          return visit_all(parts, kind.may_leave_early);
        }
        return visit_sparse(parts);
      case Shape::neighbors:
        return visit_sparse(parts);
      case Shape::one_to_all:
        return visit_one_to_all(parts);
      case Shape::all_to_one:
        return visit_all_to_one(parts);
      case Shape::prefix:
        return visit_prefix(parts);
      case Shape::none:
        return;
    }
  }

 private:
  static Moment posted(const Part& part) {
    return {part.posted_by, part.posted.enter, part.posted.enter};
  }
  static Moment completed(const Part& part, Time until) {
    const replay::Call& call = part.completed;
    return {part.location, std::clamp(until, call.enter, call.leave), call.enter};
  }
  /// The completion time of an operation that was never completed by a call is unknown.
  static bool completes(const Part& part) {
    return part.op->may_wait || part.op->polled || part.posted.enter < part.completed.enter;
  }

  void signal(HubId hub, const Part& part, Last& last) {
    const Time before = own_.hubs[hub.index()].time, now = part.posted.enter;
    last.others = std::max(last.others, std::min(before, now));
    if (now >= before) last.location = part.posted_by;
    own_.signal(hub, posted(part));
  }
  void add_last(HubId hub, const Last& last) {
    if (last.others == Time::min()) return;  // it was alone
    own_.hubs[hub.index()].last = static_cast<uint32_t>(own_.lasts.size());
    own_.lasts.push_back(last);
  }

  void visit_all(std::span<const Part> parts, bool may_leave_early) {
    const HubId hub = own_.add_hub();
    Last last_one;
    for (const Part& part : parts) signal(hub, part, last_one);
    add_last(hub, last_one);
    const Time last = own_.hubs[hub.index()].time;
    const size_t nodes = routes_.count_nodes(parts);
    own_.meet(hub, {.comm = parts[0].op->comm});
    for (const Part& part : parts) {
      if (!completes(part)) continue;
      if (may_leave_early && part.completed.leave < last) continue;
      own_.gate(hub, completed(part, last), Routes::through_tree(parts.size(), nodes, part));
    }
  }

  bool waits_for(const Part& to, const Part& from) const {
    if (&from == &to || !completes(to) || from.posted.enter > to.completed.leave) return false;
    return shapes_.gives(from, to);
  }

  void pair(const Part& from, const Part& to, size_t givers) {
    if (!waits_for(to, from)) return;
    own_.edge(posted(from), completed(to, from.posted.enter), routes_.from_each(from, to, givers));
  }

  void visit_sparse(std::span<const Part> parts) {
    FlatMap place_of;
    for (size_t i = 0; i < parts.size(); ++i) {
      const ProcessId process = run_.location(parts[i].location).process;
      place_of.set(process.index(), static_cast<uint32_t>(i));
    }
    for (const Part& to : parts) {
      const std::vector<ProcessId>* few = shapes_.givers(to);
      if (few == nullptr) {
        for (const Part& from : parts) pair(from, to, parts.size());
        continue;
      }
      for (const ProcessId process : *few) {
        const uint32_t place = place_of.find(process.index());
        if (place != FlatMap::kNone) pair(parts[place], to, few->size());
      }
    }
  }

  void visit_one_to_all(std::span<const Part> parts) {
    const Part* root = CollectiveShapes::root_of(parts);
    if (root == nullptr) return;
    const size_t nodes = routes_.count_nodes(parts);
    HubId hub;
    for (const Part& part : parts) {
      if (!waits_for(part, *root) || part.location == root->posted_by) continue;
      if (!hub.valid()) {
        hub = own_.add_hub();
        own_.meet(hub, {.at_gate = true, .comm = parts[0].op->comm});
        own_.signal(hub, posted(*root));
      }
      own_.gate(hub, completed(part, root->posted.enter),
                Routes::through_tree(parts.size(), nodes, part));
    }
  }

  void visit_all_to_one(std::span<const Part> parts) {
    const Part* root = CollectiveShapes::root_of(parts);
    if (root == nullptr) return;
    const HubId hub = own_.add_hub();
    own_.meet(hub, {.comm = parts[0].op->comm});
    Last last;
    signal(hub, *root, last);
    for (const Part& part : parts) {
      if (&part != root && shapes_.gives(part, *root)) signal(hub, part, last);
    }
    add_last(hub, last);
    if (completes(*root)) {
      own_.gate(hub, completed(*root, own_.hubs[hub.index()].time),
                Routes::through_tree(parts.size(), routes_.count_nodes(parts), *root));
    }
  }

  /// Each rank's hub has its own signal and that of the hub before.
  void visit_prefix(std::span<const Part> parts) {
    const std::vector<size_t> nodes = routes_.count_nodes_up_to_each(parts);
    HubId before;
    for (size_t i = 0; i < parts.size(); ++i) {
      const Part& part = parts[i];
      if (before.valid()) {
        own_.gate(before, completed(part, own_.hubs[before.index()].time),
                  Routes::through_tree(i + 1, nodes[i], part));
      }
      const HubId hub = own_.add_hub();
      if (before.valid()) {
        own_.hubs[before.index()].next = hub;
        ++own_.hubs[hub.index()].signals;
        own_.hubs[hub.index()].time = own_.hubs[before.index()].time;
      }
      own_.signal(hub, posted(part));
      before = hub;
    }
  }

  const Run& run_;
  const CollectiveShapes& shapes_;
  const Routes& routes_;
  Dependences& all_;
  std::mutex& mutex_;
  Dependences own_;
};

}  // namespace

void add_collectives(const Run& run, unsigned threads, Dependences& found) {
  const CollectiveShapes shapes(run);
  const Routes routes(run);
  std::mutex mutex;
  Losses told;  // counted by the detectors already
  replay::match_collectives(
      run, threads,
      {[](size_t) {},
       [&](size_t) { return std::make_unique<Operations>(run, shapes, routes, found, mutex); }},
      told);
}

}  // namespace culprit::predict
