// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The call paths of a thread, built while its events are read, and which of them match a glob.
// Those of a team's members hang below the call path at which the team was forked, which may hang
// below another fork itself.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "trace/source.h"

namespace culprit::predict {

class PathTree;

/// Where a team was forked: a node of the tree of the thread that did so.
struct ForkPlace {
  const PathTree* tree = nullptr;
  size_t node = 0;
  trace::RegionInstance outer = trace::RegionInstance::unknown;  ///< the team that thread was in
};
/// By process and instance.
using ForkPlaces = std::map<std::pair<ProcessId, trace::RegionInstance>, ForkPlace>;

class PathTree {
 public:
  static constexpr size_t kOutside = 0;  ///< of all functions

  PathTree(const trace::Definitions& definitions, const std::string& glob)
      : definitions_(definitions), glob_(glob) {}

  size_t child(size_t parent, RegionId region);
  /// The call path of a fork, in this tree; kOutside if it is not known.
  size_t at(const ForkPlaces& forks, ProcessId process, trace::RegionInstance instance);

  bool fits(size_t node) const { return nodes_[node].fits; }
  /// Returns whether a node matches the glob, or lies below one that does.
  bool inside(size_t node) const { return nodes_[node].inside; }

 private:
  struct Node {
    size_t parent = kOutside;
    RegionId region;
    std::string name;
    bool fits = false, inside = false;
    std::unordered_map<RegionId, size_t> children = {};
  };
  size_t below(size_t base, const PathTree& other, size_t node);

  const trace::Definitions& definitions_;
  const std::string& glob_;
  std::vector<Node> nodes_ = {{}};
};

}  // namespace culprit::predict
