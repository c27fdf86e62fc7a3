// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "replay/model/call_paths.h"

#include <algorithm>

namespace culprit::replay {

CallPathId CallPathTree::add(CallPathId parent, RegionId region) {
  if (2 * (nodes_.size() + 1) > slots_.size()) grow();
  const CallPathId id(nodes_.size());
  nodes_.push_back({parent, region});
  slots_[slot_of(parent, region)] = {parent, region, id};
  return id;
}

void CallPathTree::grow() {
  slots_.assign(std::max<size_t>(64, slots_.size() * 2), {});
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const auto [parent, region] = nodes_[i];
    if (region.valid()) slots_[slot_of(parent, region)] = {parent, region, CallPathId(i)};
  }
}

CallPathId CallPathTree::add_anchor() {
  nodes_.push_back({CallPathId::none(), RegionId::none()});
  return CallPathId(nodes_.size() - 1);
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
