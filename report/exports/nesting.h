// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Activities as functions that are entered and left: what readers of events expect. An activity is
// at a call path; between two that follow each other, what their paths have in common goes on, the
// rest of the one is left and the rest of the other entered. Two visits of a function with nothing
// in between look like one.
#pragma once

#include <algorithm>
#include <vector>

#include "blame/excerpt/excerpt.h"

namespace culprit::report {

class Nesting {
 public:
  explicit Nesting(const blame::Excerpt& excerpt) : excerpt_(excerpt) {}

  /// Calls enter(location, path, time) and leave(location, path, time) in the order of time, one
  /// location after another; each is left as often as it is entered.
  template <class Enter, class Leave>
  void play(const Enter& enter, const Leave& leave) {
    const auto& all = excerpt_.activities;
    for (size_t i = 0; i < all.size(); ++i) {
      const blame::ExcerptActivity& now = all[i];
      const bool first = i == 0 || all[i - 1].location != now.location;
      move(now.location, now.path, first ? now.begin : all[i - 1].end, now.begin, enter, leave);
      const bool last = i + 1 == all.size() || all[i + 1].location != now.location;
      if (last) move(now.location, CallPathId::none(), now.end, now.end, enter, leave);
    }
  }

 private:
  template <class Enter, class Leave>
  void move(LocationId location, CallPathId path, Time left, Time entered, const Enter& enter,
            const Leave& leave) {
    chain_.clear();
    for (CallPathId at = path; at.valid(); at = excerpt_.callpaths[at.index()].parent) {
      chain_.push_back(at);
    }
    std::reverse(chain_.begin(), chain_.end());
    const auto differ = std::mismatch(open_.begin(), open_.end(), chain_.begin(), chain_.end());
    const auto same = static_cast<size_t>(differ.first - open_.begin());
    for (; open_.size() > same; open_.pop_back()) leave(location, open_.back(), left);
    for (size_t i = same; i < chain_.size(); ++i) {
      open_.push_back(chain_[i]);
      enter(location, chain_[i], entered);
    }
  }

  const blame::Excerpt& excerpt_;
  std::vector<CallPathId> open_, chain_;
};

}  // namespace culprit::report
