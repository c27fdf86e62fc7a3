// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "assemble/run/sampled_stacks.h"

namespace culprit::assemble {

uint32_t SampledStacks::child(uint32_t parent, uint64_t address) {
  const auto [known, fresh] =
      numbers_.try_emplace({parent, address}, static_cast<uint32_t>(paths_.size()));
  if (fresh) paths_.push_back({parent, address, 0});
  return known->second;
}

void SampledStacks::merge(const SampledStacks& other) {
  std::vector<uint32_t> mine(other.paths_.size());
  for (uint32_t i = 1; i < other.paths_.size(); ++i) {
    const Path& path = other.paths_[i];
    mine[i] = child(mine[path.parent], path.address);
    add(mine[i], path.samples);
  }
}

}  // namespace culprit::assemble
