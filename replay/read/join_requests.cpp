// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Foreign steps of all threads are sorted by request and time; then each is settled with the thread
// that posted it.
#include "replay/read/join_requests.h"

#include <algorithm>

#include "base/parallel.h"

namespace culprit::replay {
namespace {

using Step = ForeignRequest::Step;

/// One process's locations.
class RequestJoiner {
 public:
  RequestJoiner(Run& run, const std::vector<LocationId>& locations)
      : run_(run), locations_(locations) {}

  void join() {
    struct RemoteRequest {
      LocationId location;
      ForeignRequest what;
    };
    std::vector<RemoteRequest> all;
    for (LocationId id : locations_) {
      for (const ForeignRequest& what : run_.at(id).open.foreign) all.push_back({id, what});
    }
    std::stable_sort(all.begin(), all.end(), [](const RemoteRequest& a, const RemoteRequest& b) {
      return a.what.time < b.what.time;
    });
    for (const RemoteRequest& told : all) settle(told.location, told.what);
    find_probes();
    for (LocationId id : locations_) run_.at(id).open = {};
  }

 private:
  /// How `at` names a call that may be another location's.
  CallKey key(LocationId at, CallRef call) {
    if (call.location == at) return CallKey::own(call.call);
    std::vector<CallRef>& elsewhere = run_.at(at).elsewhere;
    elsewhere.push_back(call);
    return CallKey::elsewhere(elsewhere.size() - 1);
  }

  struct Open {
    LocationId location;
    uint32_t value = FlatMap::kNone;
  };
  /// Returns the operation that a location still has open under this number.
  Open find(FlatMap OpenRequests::* open, trace::RequestId request, bool ends) {
    for (LocationId id : locations_) {
      FlatMap& map = run_.at(id).open.*open;
      const uint64_t number = static_cast<uint64_t>(request);
      const uint32_t value = ends ? map.take(number) : map.find(number);
      if (value != FlatMap::kNone) return {id, value};
    }
    return {};
  }

  void settle(LocationId told_by, const ForeignRequest& what) {
    const bool ends = what.step != Step::ready;
    switch (what.step) {
      case Step::sent:
      case Step::ready:
        if (const Open open = find(&OpenRequests::sends, what.request, ends);
            open.location.valid()) {
          settle_send(open, {told_by, what.call}, what);
        }
        return;
      case Step::received:
        // The operation lives where it was completed; what was posted elsewhere stays uncompleted.
        if (const Open open = find(&OpenRequests::recvs, what.request, true);
            open.location.valid()) {
          const CallKey posted = run_.at(open.location).recvs[open.value].posted;
          run_.at(told_by).recvs[what.op].posted = key(told_by, run_.ref(open.location, posted));
        }
        return;
      case Step::cancelled:
        find(&OpenRequests::sends, what.request, true);
        find(&OpenRequests::recvs, what.request, true);
        return;
      case Step::collective:
        if (const Open open = find(&OpenRequests::collectives, what.request, true);
            open.location.valid()) {
          run_.at(told_by).collectives[what.op].posted =
              key(told_by, {open.location, CallIndex(open.value)});
        }
        return;
    }
  }

  void settle_send(const Open& open, CallRef call, const ForeignRequest& what) {
    Timeline& line = run_.at(open.location);
    MessageOp& send = line.sends[open.value];
    if (what.step == Step::ready) {
      send.rare = true;
      line.rare_sends[open.value].met = call;
      return;
    }
    send.completed = key(open.location, call);
    send.may_wait = send.may_wait && what.may_wait;
  }

  void find_probes() {
    const bool any = std::any_of(locations_.begin(), locations_.end(),
                                 [&](LocationId id) { return !run_.at(id).open.probes.empty(); });
    if (!any) return;
    for (LocationId id : locations_) {
      for (auto& [op, recv] : run_.at(id).rare_recvs) {
        if (recv.probe != trace::MatchedProbe::none) recv.met = probe(recv.probe);
      }
    }
  }

  CallRef probe(trace::MatchedProbe number) {
    for (LocationId id : locations_) {
      const uint32_t call = run_.at(id).open.probes.find(static_cast<uint64_t>(number));
      if (call != FlatMap::kNone) return {id, CallIndex(call)};
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
               [&](size_t p) { RequestJoiner(run, processes[p].locations).join(); });
}

}  // namespace culprit::replay
