// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How data are delivered to a location: the number and size of the messages, within nodes and
// between them. For collective operations this is a model of libraries: the levels of a binary
// tree, those between nodes first.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "predict/rerun/dependences.h"
#include "replay/match/collective_part.h"
#include "replay/model/run.h"

namespace culprit::predict {

class Routes {
 public:
  explicit Routes(const replay::Run& run);

  Delivery message(LocationId from, LocationId to, uint64_t bytes) const;
  bool between_nodes(LocationId a, LocationId b) const { return node(a) != node(b); }

  /// Of an operation: how many nodes its members are on.
  size_t count_nodes(std::span<const replay::Part> parts) const;
  /// Of each member and all before it.
  std::vector<size_t> count_nodes_up_to_each(std::span<const replay::Part> parts) const;
  /// Returns the delivery to a member that gets data from, or through, `members` members on `nodes`
  /// nodes. Empty for a single member.
  static Delivery through_tree(size_t members, size_t nodes, const replay::Part& to);
  /// Returns the delivery to a member that gets equally much from each of several members, in
  /// separate messages.
  Delivery from_each(const replay::Part& from, const replay::Part& to, size_t givers) const;

 private:
  size_t node(LocationId id) const { return nodes_[run_.location(id).process.index()]; }

  const replay::Run& run_;
  std::vector<size_t> nodes_;  ///< by ProcessId
  size_t node_count_ = 0;
};

}  // namespace culprit::predict
