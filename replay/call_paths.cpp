// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "replay/call_paths.h"

#include <algorithm>

namespace culprit::replay {

namespace {

/// Index into `last_`: roots hang under a nameless node 0.
size_t home(CallPathId parent) {
  return parent.valid() ? parent.index() + 1 : 0;
}

size_t hash(CallPathId parent, RegionId region) {
  const uint64_t key = (uint64_t{home(parent)} << 32) ^ region.index();
  return static_cast<size_t>((key * 0x9e3779b97f4a7c15ull) >> 29);
}

}  // namespace

size_t CallPathTree::slot_of(CallPathId parent, RegionId region) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = hash(parent, region) & mask;
  while (slots_[slot].valid()) {
    const Node& node = nodes_[slots_[slot].index()];
    if (node.parent == parent && node.region == region) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

void CallPathTree::grow() {
  if (last_.empty()) last_.emplace_back();
  if (2 * (nodes_.size() + 1) <= slots_.size()) return;
  slots_.assign(std::max<size_t>(64, slots_.size() * 2), CallPathId::none());
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (nodes_[i].region.valid())
      slots_[slot_of(nodes_[i].parent, nodes_[i].region)] = CallPathId(i);
  }
}

CallPathId CallPathTree::child(CallPathId parent, RegionId region) {
  grow();
  const size_t at = home(parent);
  if (last_[at].child.valid() && last_[at].region == region) return last_[at].child;
  const size_t slot = slot_of(parent, region);
  CallPathId id = slots_[slot];
  if (!id.valid()) {
    id = CallPathId(nodes_.size());
    nodes_.push_back({parent, region});
    last_.emplace_back();
    slots_[slot] = id;
  }
  last_[at] = {region, id};
  return id;
}

CallPathId CallPathTree::add_anchor() {
  grow();
  const CallPathId id(nodes_.size());
  nodes_.push_back({CallPathId::none(), RegionId::none()});
  last_.emplace_back();
  return id;
}

std::string CallPathTree::name(CallPathId id, const std::vector<trace::Region>& regions) const {
  std::vector<const std::string*> parts;
  for (; id.valid(); id = nodes_[id.index()].parent) {
    parts.push_back(&regions[nodes_[id.index()].region.index()].name);
  }
  std::string name;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    if (!name.empty()) name += '/';
    name += **part;
  }
  return name;
}

}  // namespace culprit::replay
