// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The trace pairs sends with receives, which replay does by itself, in the order in which both were
// posted. Where the pairs are others, since messages had tags or communicators that the trace does
// not tell, they get tags that keep them apart.
#include "trace/paraver/messages.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace culprit::trace {
namespace {

constexpr size_t kDeepest = 8;  ///< calls of MPI that may be open within each other

/// The innermost visit that `time` lies in, be it its begin or its end.
template <class Visit, class Fits>
const Visit* visit_at(const std::vector<Visit>& visits, int64_t time, const Fits& fits) {
  auto at = std::upper_bound(visits.begin(), visits.end(), time,
                             [](int64_t t, const Visit& visit) { return t < visit.begin; });
  for (size_t tries = 0; tries < kDeepest && at != visits.begin(); ++tries) {
    --at;
    if (fits(*at)) return &*at;
  }
  return nullptr;
}

template <class Visit>
const Visit* begun_by(const std::vector<Visit>& visits, int64_t time) {
  return visit_at(visits, time, [&](const Visit& visit) {
    return visit.begin == time || (visit.begin < time && time < visit.end);
  });
}

const MpiVisit* ended_by(const std::vector<MpiVisit>& visits, int64_t time) {
  return visit_at(visits, time, [&](const MpiVisit& visit) {
    return visit.end == time || (visit.begin < time && time < visit.end);
  });
}

/// Gives messages of one pair of processes lanes on each of which receives are posted in the order
/// of the sends.
class Lanes {
 public:
  int32_t lane_of(int64_t posted) {
    auto before = last_posted_.upper_bound(posted);
    int32_t lane = lanes_;
    if (before != last_posted_.begin()) {
      --before;
      lane = before->second;
      last_posted_.erase(before);
    } else {
      ++lanes_;
    }
    last_posted_.emplace(posted, lane);
    return lane;
  }

 private:
  std::multimap<int64_t, int32_t> last_posted_;
  int32_t lanes_ = 0;
};

class MessageAdder {
 public:
  MessageAdder(const std::vector<ThreadPlace>& places, std::vector<ImportedProcess>& processes)
      : places_(places), processes_(processes) {}

  /// False: there is no call that it belongs to.
  bool add(const ParaverMessage& message, int32_t tag) {
    const ThreadPlace& from = places_[message.sender];
    const ThreadPlace& to = places_[message.receiver];
    const MpiVisit* const sends = begun_by(from.built.mpi, message.sent);
    const MpiVisit* const completes = ended_by(to.built.mpi, message.received);
    if (sends == nullptr || completes == nullptr) return false;
    const MpiVisit* const posts = begun_by(to.built.mpi, message.posted);
    ImportedAct act;
    act.comm = from.world;
    act.tag = tag;
    act.bytes = message.bytes;
    act.number = ++requests_;
    act.peer = to.rank;
    using enum ImportedAct::What;
    if (sends->returns_at_once) {
      put(from, sends, isend, act);
      // When the send was complete is not recorded.
      put(from, sends, isend_complete, act);
    } else {
      put(from, sends, send, act);
    }
    act.peer = from.rank;
    act.number = ++requests_;
    const bool at_once = posts == nullptr || (posts == completes && !posts->returns_at_once);
    if (at_once) {
      put(to, completes, recv, act);
    } else {
      put(to, posts, irecv_request, act);
      put(to, completes, irecv, act);
    }
    return true;
  }

  /// What a host hands over to a stream of its process.
  void launch(const ParaverMessage& message) {
    const ThreadPlace& host = places_[message.sender];
    const ThreadPlace& stream = places_[message.receiver];
    const ParallelVisit* const call = begun_by(host.built.device_calls, message.sent);
    auto& queues = processes_[stream.process].queues;
    const auto queue = queues.find({0, 0, stream.key});
    if (call == nullptr || queue == queues.end()) return;
    const auto operation = std::lower_bound(
        queue->second.begin(), queue->second.end(), message.posted,
        [](const ImportedOperation& each, int64_t time) { return each.begin < time; });
    if (operation == queue->second.end() || operation->begin > message.received) return;
    operation->correlation = call->number;
  }

 private:
  void put(const ThreadPlace& place, const MpiVisit* call, ImportedAct::What what,
           ImportedAct act) {
    act.call = call->number;
    act.what = what;
    processes_[place.process].threads[place.key].acts.push_back(act);
  }

  const std::vector<ThreadPlace>& places_;
  std::vector<ImportedProcess>& processes_;
  uint64_t requests_ = 0;
};

}  // namespace

uint64_t add_messages(std::vector<ParaverMessage>& messages, const std::vector<ThreadPlace>& places,
                      std::vector<ImportedProcess>& processes) {
  const auto pair_of = [&](const ParaverMessage& message) {
    return std::pair(places[message.sender].process, places[message.receiver].process);
  };
  const auto key_of = [&](const ParaverMessage& message) {
    return std::tuple(pair_of(message), message.sender, message.receiver, message.sent);
  };
  std::stable_sort(
      messages.begin(), messages.end(),
      [&](const ParaverMessage& a, const ParaverMessage& b) { return key_of(a) < key_of(b); });
  MessageAdder adder(places, processes);
  uint64_t lost = 0;
  Lanes lanes;
  for (size_t i = 0; i < messages.size(); ++i) {
    const ParaverMessage& message = messages[i];
    const auto [from, to] = pair_of(message);
    if (from == to && message.sender != message.receiver &&
        places[message.receiver].built.mpi.empty()) {
      adder.launch(message);
      continue;
    }
    if (i == 0 || pair_of(messages[i - 1]) != std::pair(from, to)) lanes = Lanes();
    lost += !adder.add(message, lanes.lane_of(message.posted));
  }
  return lost;
}

}  // namespace culprit::trace
