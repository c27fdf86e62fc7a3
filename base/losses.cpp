// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "base/losses.h"

namespace culprit {

void Losses::add(std::string_view name, Severity severity, std::string_view advice,
                 uint64_t count) {
  if (count == 0) return;
  auto it = losses_.find(name);
  if (it == losses_.end()) {
    it = losses_.emplace(std::string(name), Loss{0, severity, std::string(advice)}).first;
  }
  it->second.count += count;
}

void Losses::merge(const Losses& other) {
  for (const auto& [name, loss] : other.losses_) add(name, loss.severity, loss.advice, loss.count);
}

}  // namespace culprit
