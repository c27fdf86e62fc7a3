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
  CallPathId child(CallPathId parent, RegionId region) {
    if (!slots_.empty()) {
      const Slot& slot = slots_[slot_of(parent, region)];
      if (slot.child.valid()) return slot.child;
    }
    return add(parent, region);
  }
  /// A new root that stands for a path elsewhere.
  CallPathId add_anchor();

  size_t size() const { return nodes_.size(); }
  const Node& operator[](CallPathId id) const { return nodes_[id.index()]; }
  std::span<const Node> nodes() const { return nodes_; }

  /// Region names from the root, joined with '/'.
  std::string name(CallPathId id, const std::vector<trace::Region>& regions) const;

 private:
  struct Slot {
    CallPathId parent;
    RegionId region;
    CallPathId child;  // none: free
  };

  static size_t hash(CallPathId parent, RegionId region) {
    const uint64_t key = uint64_t{parent.valid() ? parent.index() + 1 : 0} << 32 | region.index();
    return static_cast<size_t>((key * 0x9e3779b97f4a7c15ull) >> 29);
  }
  /// Where the child is, or would be.
  size_t slot_of(CallPathId parent, RegionId region) const {
    const size_t mask = slots_.size() - 1;
    size_t i = hash(parent, region) & mask;
    while (slots_[i].child.valid() && (slots_[i].parent != parent || slots_[i].region != region)) {
      i = (i + 1) & mask;
    }
    return i;
  }
  CallPathId add(CallPathId parent, RegionId region);
  void grow();

  std::vector<Node> nodes_;
  std::vector<Slot> slots_;  // by parent and region: open addressing, a power of two
};

}  // namespace culprit::replay
