// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Where several ranks analyse, the cause of a wait is explained by the rank that has it, which may
// be another one. There the wait is a remote wait: WaitGraph::waits of its location, which is not
// one of that rank's, holds just those of its waits and ties that locations of the rank caused, in
// their order. With them comes what their location did itself since it met its cause. What is found
// goes back, in the same order: neither side has to say which wait it speaks of. From then on the
// waiter's rank knows the wait's number at its cause's, and says that.
#pragma once

#include <span>
#include <vector>

#include "base/ranks/exchange.h"
#include "blame/delay/delay.h"
#include "blame/delay/intervals.h"

namespace culprit::blame {

/// Of a wait that several locations caused, and of each of its ties.
struct RemoteShare {
  uint32_t wait;  ///< among those of its location
  bool is_tie;
  double share;
  Time end;         ///< of the wait
  Duration amount;  ///< likewise
};

class RemoteWaits {
 public:
  RemoteWaits(const replay::Run& run, replay::WaitGraph& graph);

  /// Sends waits of this rank's locations to their causes' ranks, and receives. Collective, and so
  /// are those below.
  void send_to_causes(const std::vector<PathTimes>& times, const Intervals& intervals,
                      const DelayAnalysis& delays, unsigned threads);
  /// MT: for different waits.
  void found(WaitRef remote, const WaitCause& what) {
    found_[remote.location.index()][remote.wait] = what;
  }
  /// put(wait, what was found) for each wait that is a remote wait elsewhere.
  template <class Put>
  void send_to_waiters(const Put& put);

  bool is_remote(WaitRef ref) const { return owner_[ref.location.index()] != rank_; }
  /// Intervals::begin() of a remote wait.
  Time interval_begin(WaitRef remote) const {
    return begins_[remote.location.index()][remote.wait];
  }
  /// The time without waiting of a remote wait's location since then, by call path.
  std::span<const Excess> done_by(WaitRef remote) const {
    const size_t id = remote.location.index();
    const size_t* first = &first_[id][remote.wait];
    return {done_[owner_[id]].data() + first[0], first[1] - first[0]};
  }
  /// Nothing if its cause alone was late.
  const RemoteShare* find_share(WaitRef remote) const;
  double share(WaitRef remote) const {
    const RemoteShare* shared = find_share(remote);
    return shared == nullptr ? 1 : shared->share;
  }

 private:
  /// Calls visit(rank, wait) for each that is a remote wait elsewhere, or that is one here; those
  /// for or from a rank come in the same order on both sides.
  template <class Visit>
  void for_each_sent(const Visit& visit) const;
  template <class Visit>
  void for_each_received(const Visit& visit) const;

  const replay::Run& run_;
  replay::WaitGraph& graph_;
  const size_t rank_;
  std::vector<size_t> owner_;          // by LocationId
  std::vector<Column<Excess>> done_;   // by rank, of all its remote waits
  std::vector<Column<Time>> begins_;   // by LocationId, of each remote wait
  std::vector<Column<size_t>> first_;  // by LocationId, of each remote wait and one more: in done_
  std::vector<Column<RemoteShare>> shares_;  // by LocationId, in order of the remote waits
  std::vector<Column<WaitCause>> found_;     // by LocationId, of each remote wait
};

template <class Visit>
void RemoteWaits::for_each_sent(const Visit& visit) const {
  for (size_t id = 0; id < owner_.size(); ++id) {
    if (owner_[id] != rank_) continue;
    const auto count = static_cast<uint32_t>(graph_.waits[id].size() + graph_.ties[id].size());
    for (uint32_t w = 0; w < count; ++w) {
      const size_t owner = owner_[graph_.wait(LocationId(id), w).cause.index()];
      if (owner != rank_) visit(owner, WaitRef{LocationId(id), w});
    }
  }
}

template <class Visit>
void RemoteWaits::for_each_received(const Visit& visit) const {
  for (size_t id = 0; id < owner_.size(); ++id) {
    if (owner_[id] == rank_) continue;
    const auto count = static_cast<uint32_t>(graph_.waits[id].size());
    for (uint32_t w = 0; w < count; ++w) visit(owner_[id], WaitRef{LocationId(id), w});
  }
}

template <class Put>
void RemoteWaits::send_to_waiters(const Put& put) {
  struct Told {
    Lateness late;
    uint32_t number;
  };
  std::vector<Column<Told>> told(run_.ranks->size());
  for_each_received([&](size_t to, WaitRef remote) {
    const WaitCause& what = found_[remote.location.index()][remote.wait];
    told[to].push_back({what.late, what.number});
  });
  found_.clear();
  told = exchange(*run_.ranks, std::move(told));
  std::vector<size_t> next(told.size());
  for_each_sent([&](size_t from, WaitRef wait) {
    const Told& of = told[from][next[from]++];
    put(wait, WaitCause{.late = of.late, .number = of.number});
  });
}

}  // namespace culprit::blame
