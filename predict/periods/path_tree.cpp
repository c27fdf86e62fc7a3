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
  nodes_.push_back({std::move(name), fits, inside});
  return node;
}

size_t PathTree::at(const ForkPlace& place) {
  const auto [known, is_new] = places_.try_emplace(place.name, nodes_.size());
  if (is_new) nodes_.push_back({place.name, place.inside, place.inside});
  return known->second;
}

}  // namespace culprit::predict
