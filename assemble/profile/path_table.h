// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Call paths that have no number yet: a hash of the regions from the root on, which is the same in
// all processes, so that each can be worked on by itself.
#pragma once

#include <cstdint>
#include <vector>

#include "assemble/play/folding.h"
#include "base/flat_map.h"
#include "base/ids.h"

namespace culprit::assemble {

using PathHash = uint64_t;
inline constexpr PathHash kNoPath = 0;

class PathTable {
 public:
  struct Entry {
    PathHash path;
    PathHash parent;  ///< kNoPath for roots
    RegionId region;
  };

  static PathHash hash_of(PathHash parent, RegionId region) {
    return with(parent, region.index() + 1);
  }
  PathHash child(PathHash parent, RegionId region) {
    const PathHash path = hash_of(parent, region);
    add({path, parent, region});
    return path;
  }
  void add(const Entry& entry) {
    const auto fresh = static_cast<uint32_t>(entries_.size());
    if (places_.at(entry.path, fresh) == fresh) entries_.push_back(entry);
  }
  /// Parents before their children, if those were added so.
  const std::vector<Entry>& entries() const { return entries_; }
  const Entry* find(PathHash path) const {
    const uint32_t at = places_.find(path);
    return at == FlatMap::kNone ? nullptr : &entries_[at];
  }
  PathHash parent_of(PathHash path) const {
    const Entry* const entry = find(path);
    return entry == nullptr ? kNoPath : entry->parent;
  }

 private:
  FlatMap places_;
  std::vector<Entry> entries_;
};

}  // namespace culprit::assemble
