// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "predict/periods/path_tree.h"

#include "base/glob.h"

namespace culprit::predict {

size_t PathTree::child(size_t parent, RegionId region) {
  const auto [known, is_new] = nodes_[parent].children.try_emplace(region, nodes_.size());
  const size_t node = known->second;
  if (!is_new) return node;
  const std::string& above = nodes_[parent].name;
  const std::string& function = definitions_.regions[region.index()].name;
  std::string name = above.empty() ? function : above + "/" + function;
  const bool fits = matches_callpath(glob_, name, function);
  const bool inside = fits || nodes_[parent].inside;
  nodes_.push_back({parent, region, std::move(name), fits, inside});
  return node;
}

/// Returns the node reached from `base` by the regions that lead to a node of another tree.
size_t PathTree::below(size_t base, const PathTree& other, size_t node) {
  if (node == kOutside) return base;
  const Node& last = other.nodes_[node];
  return child(below(base, other, last.parent), last.region);
}

size_t PathTree::at(const ForkPlaces& forks, ProcessId process, trace::RegionInstance instance) {
  // Outer teams last; a damaged trace may have a circle of them.
  std::vector<const ForkPlace*> places;
  while (instance != trace::RegionInstance::unknown && places.size() <= forks.size()) {
    const auto fork = forks.find({process, instance});
    if (fork == forks.end()) break;
    places.push_back(&fork->second);
    instance = fork->second.outer;
  }
  size_t node = kOutside;
  for (; !places.empty(); places.pop_back()) {
    node = below(node, *places.back()->tree, places.back()->node);
  }
  return node;
}

}  // namespace culprit::predict
