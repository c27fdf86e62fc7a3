// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Only the numbers of members and of nodes count; which members are neighbours is unknown.
#include "predict/rerun/depend/routes.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "base/tree_levels.h"

namespace culprit::predict {

namespace {

using replay::Part;
using trace::CollectiveOp;

/// Returns the bytes that a member of a tree gets in each of its rounds. In OTF2, the bytes
/// received by a member that gets a reduction are those of all members.
uint64_t bytes_of_round(const Part& to, size_t members, uint32_t rounds) {
  const uint64_t received = to.op->bytes_received;
  switch (to.op->op) {
    case CollectiveOp::bcast:
      return received;
    case CollectiveOp::reduce:
    case CollectiveOp::allreduce:
    case CollectiveOp::scan:
      return received / members;
    case CollectiveOp::exscan:
      return received / (members - 1);
    default:
      return received / rounds;
  }
}

}  // namespace

Routes::Routes(const replay::Run& run) : run_(run) {
  std::map<std::string_view, size_t> places;
  for (const trace::Process& process : run.definitions->processes) {
    nodes_.push_back(places.try_emplace(process.node, places.size()).first->second);
  }
  node_count_ = places.size();
}

Delivery Routes::message(LocationId from, LocationId to, uint64_t bytes) const {
  if (between_nodes(from, to)) return {.far_hops = 1, .bytes = bytes};
  return {.near_hops = 1, .bytes = bytes};
}

Delivery Routes::through_tree(size_t members, size_t nodes, const Part& to) {
  const uint32_t rounds = tree_levels(members);
  if (rounds == 0) return {};
  const uint32_t far = std::min(rounds, tree_levels(nodes));
  return {rounds - far, far, bytes_of_round(to, members, rounds)};
}

Delivery Routes::from_each(const Part& from, const Part& to, size_t givers) const {
  return message(from.location, to.location, to.op->bytes_received / std::max<size_t>(1, givers));
}

std::vector<size_t> Routes::count_nodes_up_to_each(std::span<const Part> parts) const {
  std::vector<bool> seen(node_count_);
  std::vector<size_t> counts;
  size_t count = 0;
  for (const Part& part : parts) {
    const size_t at = node(part.location);
    if (!seen[at]) ++count;
    seen[at] = true;
    counts.push_back(count);
  }
  return counts;
}

size_t Routes::count_nodes(std::span<const Part> parts) const {
  if (node_count_ < 2) return node_count_;
  std::vector<bool> seen(node_count_);
  for (const Part& part : parts) seen[node(part.location)] = true;
  return static_cast<size_t>(std::count(seen.begin(), seen.end(), true));
}

}  // namespace culprit::predict
