// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Each rank sends those of its waits whose cause belongs to another rank, with the waiter's time by
// call path in the interval, all at once; the costs found there are returned the same way.
#include "blame/delay/remote_waits.h"

#include <algorithm>

#include "base/parallel.h"

namespace culprit::blame {

namespace {

/// A wait on its way.
struct WaitInTransit {
  replay::Wait wait;
  Time interval_begin;
  LocationId location;
  uint32_t paths;  ///< what its location did since: how many entries
};

/// What others are to know of a wait that several locations caused, or of a tie.
RemoteShare share_of(WaitRef ref, const replay::WaitGraph& graph, const DelayAnalysis& delays) {
  const size_t id = ref.location.index(), waits = graph.waits[id].size();
  const bool is_tie = ref.wait >= waits;
  const replay::Wait& whole =
      graph.waits[id][is_tie ? delays.tied[id][ref.wait - waits] : ref.wait];
  return {ref.wait, is_tie, delays.causes[id][ref.wait].share, whole.end, whole.amount};
}

}  // namespace

RemoteWaits::RemoteWaits(const replay::Run& run, replay::WaitGraph& graph)
    : run_(run), graph_(graph), rank_(run.ranks->rank()) {
  for (size_t id = 0; id < run.timelines.size(); ++id) owner_.push_back(run.owner(LocationId(id)));
}

void RemoteWaits::send_to_causes(const std::vector<PathTimes>& times, const Intervals& intervals,
                                 const DelayAnalysis& delays, unsigned threads) {
  std::vector<Column<Excess>> done(owner_.size());     // by LocationId
  std::vector<Column<uint32_t>> paths(owner_.size());  // of each wait that is sent
  parallel_for(
      run_.locations.size(), threads, [&] { return PathSums(run_.callpaths.size()); },
      [&](size_t i, PathSums& sums) {
        const size_t id = run_.locations[i].index();
        const size_t waits = graph_.waits[id].size(), all = waits + graph_.ties[id].size();
        for (size_t w = 0; w < all; ++w) {
          const WaitRef ref{run_.locations[i], static_cast<uint32_t>(w)};
          const replay::Wait& wait = graph_.wait(ref.location, ref.wait);
          if (owner_[wait.cause.index()] == rank_) continue;
          sums.clear();
          const size_t before = w < waits ? w : delays.tied[id][w - waits];
          times[id].sum_back(intervals.begin(ref), wait.begin, wait.activity, before, sums);
          for (CallPathId path : sums.paths()) done[id].push_back(Excess(sums[path], path));
          paths[id].push_back(static_cast<uint32_t>(sums.paths().size()));
        }
      });
  std::vector<Column<WaitInTransit>> travellers(run_.ranks->size());
  std::vector<Column<Excess>> luggage(run_.ranks->size());
  std::vector<Column<RemoteShare>> shares(run_.ranks->size());
  std::vector<size_t> traveller(owner_.size()), entry(owner_.size());
  for_each_sent([&](size_t to, WaitRef ref) {
    const size_t id = ref.location.index();
    const uint32_t count = paths[id][traveller[id]++];
    travellers[to].push_back(
        {graph_.wait(ref.location, ref.wait), intervals.begin(ref), ref.location, count});
    for (uint32_t e = 0; e < count; ++e) luggage[to].push_back(done[id][entry[id]++]);
    if (delays.causes[id][ref.wait].share != 1 || ref.wait >= graph_.waits[id].size()) {
      shares[to].push_back(share_of(ref, graph_, delays));
      // There, waits are counted from the first that was sent to that rank.
      shares[to].back().wait = static_cast<uint32_t>(travellers[to].size() - 1);
    }
  });
  done.clear();
  travellers = exchange(*run_.ranks, std::move(travellers));
  done_ = exchange(*run_.ranks, std::move(luggage));
  shares = exchange(*run_.ranks, std::move(shares));
  begins_.resize(owner_.size());
  first_.resize(owner_.size());
  shares_.resize(owner_.size());
  found_.resize(owner_.size());
  for (size_t r = 0; r < travellers.size(); ++r) {
    size_t at = 0, next = 0;
    for (size_t n = 0; n < travellers[r].size(); ++n) {
      const WaitInTransit& remote = travellers[r][n];
      const size_t id = remote.location.index();
      if (next < shares[r].size() && shares[r][next].wait == n) {
        shares_[id].push_back(shares[r][next++]);
        shares_[id].back().wait = static_cast<uint32_t>(graph_.waits[id].size());
      }
      graph_.waits[id].push_back(remote.wait);
      begins_[id].push_back(remote.interval_begin);
      if (first_[id].empty()) first_[id].push_back(at);
      first_[id].push_back(at += remote.paths);
      found_[id].push_back({});
    }
  }
}

const RemoteShare* RemoteWaits::find_share(WaitRef remote) const {
  const Column<RemoteShare>& list = shares_[remote.location.index()];
  const RemoteShare* found =
      std::lower_bound(list.begin(), list.end(), remote.wait,
                       [](const RemoteShare& share, uint32_t wait) { return share.wait < wait; });
  return found != list.end() && found->wait == remote.wait ? found : nullptr;
}

}  // namespace culprit::blame
