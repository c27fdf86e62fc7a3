// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The call paths of a thread as a trace's events go through them, and which of them a glob fits.
// Those of a team's members hang below the call path at which the team was forked.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/source.h"

namespace culprit::predict {

/// Where a team was forked.
struct ForkPlace {
  std::string name;     ///< of its call path
  bool inside = false;  ///< it fits the glob, or lies below one that does
};
/// By process and instance.
using ForkPlaces = std::map<std::pair<ProcessId, trace::RegionInstance>, ForkPlace>;

class PathTree {
 public:
  struct Node {
    std::string name;
    bool fits = false, inside = false;
    std::unordered_map<RegionId, size_t> children = {};
  };
  static constexpr size_t kOutside = 0;  ///< of all functions

  PathTree(const trace::Definitions& definitions, const std::string& glob)
      : definitions_(definitions), glob_(glob) {}

  size_t child(size_t parent, RegionId region);
  /// What begins there begins anew: it is nobody's child.
  size_t at(const ForkPlace& place);
  const Node& operator[](size_t node) const { return nodes_[node]; }

 private:
  const trace::Definitions& definitions_;
  const std::string& glob_;
  std::vector<Node> nodes_ = {{}};
  std::unordered_map<std::string, size_t> places_;
};

}  // namespace culprit::predict
