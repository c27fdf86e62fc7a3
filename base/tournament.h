// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A tournament tree: finds the earliest of many members, each with a time that changes. O(log n)
// for each change, without a comparison that a processor would have to predict.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/time.h"

namespace culprit {

class EarliestOf {
 public:
  /// No member has a time yet.
  explicit EarliestOf(size_t members) {
    while (leaves_ < members) leaves_ *= 2;
    nodes_.assign(2 * leaves_, {Time::max(), 0});
    for (size_t m = 0; m < leaves_; ++m) nodes_[leaves_ + m].member = static_cast<uint32_t>(m);
    for (size_t node = leaves_ - 1; node >= 1; --node) nodes_[node] = nodes_[2 * node];
  }
  /// Time::max(): none any more.
  void set(size_t member, Time time) {
    Node winner{time, static_cast<uint32_t>(member)};
    size_t node = leaves_ + member;
    nodes_[node] = winner;
    for (; node > 1; node /= 2) {
      const Node& other = nodes_[node ^ 1];
      // Bit operations avoid a branch, since the winner is as good as random.
      const bool loses = (other.time < winner.time) |
                         ((other.time == winner.time) & (other.member < winner.member));
      winner.time = loses ? other.time : winner.time;
      winner.member = loses ? other.member : winner.member;
      nodes_[node / 2] = winner;
    }
  }
  size_t member() const { return nodes_[1].member; }  ///< of equal ones the first
  Time time() const { return nodes_[1].time; }

 private:
  struct Node {
    Time time;
    uint32_t member;
  };
  size_t leaves_ = 1;
  std::vector<Node> nodes_;  // winners, by node of a binary tree; its leaves are the members
};

}  // namespace culprit
