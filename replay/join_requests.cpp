// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "replay/join_requests.h"

#include <algorithm>

#include "base/parallel.h"

namespace culprit::replay {
namespace {

using Step = ForeignRequest::Step;

/// One process's locations.
class Joiner {
 public:
  Joiner(Run& run, const std::vector<LocationId>& locations) : run_(run), locations_(locations) {}

  void join() {
    struct Told {
      LocationId location;
      ForeignRequest what;
    };
    std::vector<Told> all;
    for (LocationId id : locations_) {
      for (const ForeignRequest& what : run_.at(id).open.foreign) all.push_back({id, what});
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Told& a, const Told& b) { return a.what.time < b.what.time; });
    for (const Told& told : all) settle(told.location, told.what);
    find_probes();
    for (LocationId id : locations_) run_.at(id).open = {};
  }

 private:
  void settle(LocationId told_by, const ForeignRequest& what) {
    switch (what.step) {
      case Step::sent:
        if (SendOp* send = take(&OpenRequests::sends, &Timeline::sends, what.request, true)) {
          send->completed = {told_by, what.call};
          send->may_wait = send->may_wait && what.may_wait;
        }
        return;
      case Step::ready:
        if (SendOp* send = take(&OpenRequests::sends, &Timeline::sends, what.request, false)) {
          send->ready = {told_by, what.call};
        }
        return;
      case Step::received:
        // The operation lives where it was completed; what was posted elsewhere stays uncompleted.
        if (RecvOp* posted = take(&OpenRequests::recvs, &Timeline::recvs, what.request, true)) {
          run_.at(told_by).recvs[what.op].posted = posted->posted;
        }
        return;
      case Step::cancelled:
        take(&OpenRequests::sends, &Timeline::sends, what.request, true);
        take(&OpenRequests::recvs, &Timeline::recvs, what.request, true);
        return;
      case Step::collective:
        return settle_collective(told_by, what);
    }
  }

  /// The operation that a location still has open under this number.
  template <class Op>
  Op* take(std::unordered_map<uint64_t, uint32_t> OpenRequests::* open,
           std::vector<Op> Timeline::* operations, trace::RequestId request, bool ends) {
    for (LocationId id : locations_) {
      Timeline& line = run_.at(id);
      auto& map = line.open.*open;
      const auto found = map.find(static_cast<uint64_t>(request));
      if (found == map.end()) continue;
      Op* const op = &(line.*operations)[found->second];
      if (ends) map.erase(found);
      return op;
    }
    return nullptr;
  }

  void settle_collective(LocationId told_by, const ForeignRequest& what) {
    for (LocationId id : locations_) {
      auto& open = run_.at(id).open.collectives;
      const auto found = open.find(static_cast<uint64_t>(what.request));
      if (found == open.end()) continue;
      run_.at(told_by).collectives[what.op].posted = {id, found->second};
      open.erase(found);
      return;
    }
  }

  void find_probes() {
    const bool any = std::any_of(locations_.begin(), locations_.end(),
                                 [&](LocationId id) { return !run_.at(id).open.probes.empty(); });
    if (!any) return;
    for (LocationId id : locations_) {
      for (RecvOp& recv : run_.at(id).recvs) {
        if (recv.message.probe != trace::MatchedProbe::none) recv.found = probe(recv.message.probe);
      }
    }
  }

  CallRef probe(trace::MatchedProbe number) const {
    for (LocationId id : locations_) {
      const auto& probes = run_.at(id).open.probes;
      const auto found = probes.find(static_cast<uint64_t>(number));
      if (found != probes.end()) return {id, found->second};
    }
    return {};
  }

  Run& run_;
  const std::vector<LocationId>& locations_;
};

}  // namespace

void join_requests(Run& run, unsigned threads) {
  const auto& processes = run.definitions->processes;
  parallel_for(processes.size(), threads,
               [&](size_t p) { Joiner(run, processes[p].locations).join(); });
}

}  // namespace culprit::replay
