// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Call paths as a tree of (parent, region). Each location builds its own while its events are read;
// the trees are then joined into one, in which a worker's path hangs under its master's region.
// Parents always have smaller numbers than their children.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "trace/definitions.h"

namespace culprit::replay {

class CallPathTree {
 public:
  struct Node {
    CallPathId parent;  ///< none for roots
    RegionId region;    ///< none for anchors: places that stand for a path of another location
  };

  /// The child of `parent` (none: a root) for `region`; made if it does not exist.
  CallPathId child(CallPathId parent, RegionId region);
  /// A new root that stands for a path elsewhere.
  CallPathId add_anchor();

  size_t size() const { return nodes_.size(); }
  const Node& operator[](CallPathId id) const { return nodes_[id.index()]; }
  std::span<const Node> nodes() const { return nodes_; }

  /// Region names from the root, joined with '/'.
  std::string name(CallPathId id, const std::vector<trace::Region>& regions) const;

 private:
  void grow();
  size_t slot_of(CallPathId parent, RegionId region) const;

  struct Last {  // the child found last: loops call the same functions again and again
    RegionId region;
    CallPathId child;
  };
  std::vector<Node> nodes_;
  std::vector<Last> last_;         // by node; element 0 is for the roots
  std::vector<CallPathId> slots_;  // open addressing, a power of two
};

}  // namespace culprit::replay
