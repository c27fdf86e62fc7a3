// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Access to excess vectors after delay analysis: for a few call paths of one late location, in the
// order in which DelayAnalysis::caused lists the waits for it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "blame/delay/delay.h"
#include "blame/delay/path_clock.h"

namespace culprit::blame {

class ExcessReader {
 public:
  ExcessReader(const replay::Run& run, const replay::WaitGraph& graph, const DelayAnalysis& delays,
               LocationId late, std::vector<CallPathId> paths)
      : excess_(delays.excess[late.index()]),
        shared_(delays.shared[late.index()]),
        paths_(std::move(paths)),
        is_asked_(run.callpaths.size()) {
    for (CallPathId path : paths_) is_asked_[path.index()] = true;
    if (!shared_.empty()) clock_.emplace(run, late, graph.waits[late.index()], paths_);
  }

  /// Calls visit(path, time) for the entries of these paths in the wait at `place` of caused.
  /// Places must ascend.
  template <class Visit>
  void visit(uint32_t place, const CausedWait& cause, const Visit& visit) {
    while (next_ < shared_.size() && shared_[next_].place < place) ++next_;
    const std::span<const Excess> entries(excess_.begin() + cause.first_excess,
                                          excess_.begin() + cause.end_excess);
    if (next_ == shared_.size() || shared_[next_].place != place) {
      for (const Excess& entry : entries) {
        if (is_asked_[entry.path().index()]) visit(entry.path(), entry.time());
      }
      return;
    }
    for (CallPathId path : paths_) {
      Duration time = clock_->time(path, shared_[next_].begin, shared_[next_].end);
      for (const Excess& less : entries) {
        if (less.path() == path) time -= less.time();
      }
      if (time > Duration::zero()) visit(path, time);
    }
  }

 private:
  const Column<Excess>& excess_;
  const Column<SharedExcess>& shared_;
  std::vector<CallPathId> paths_;
  std::vector<bool> is_asked_;  // by CallPathId
  std::optional<PathClock> clock_;
  size_t next_ = 0;  // in shared_
};

}  // namespace culprit::blame
