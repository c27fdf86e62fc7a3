// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "base/losses.h"

#include <utility>

namespace culprit {

Severity severity_named(std::string_view name) {
  return find_word<Severity>(name).value_or(kSeverities.front());
}

void Losses::add(PlainLoss loss, uint64_t count) {
  const LossText& row = text(loss.kind);
  if (count == 0 || counted(row.id, count)) return;
  losses_.emplace(row.id, Loss{count, row.severity, std::string(row.sentence)});
}

void Losses::add(DetailedLoss loss, uint64_t count, std::string_view detail) {
  const LossText& row = text(loss.kind);
  if (count == 0 || counted(row.id, count)) return;
  std::string sentence(row.sentence);
  sentence.replace(sentence.find(kGap), kGap.size(), detail);
  losses_.emplace(row.id, Loss{count, row.severity, std::move(sentence)});
}

void Losses::restore(std::string_view name, const Loss& stored) {
  if (stored.count == 0 || counted(name, stored.count)) return;
  losses_.emplace(name, stored);
}

void Losses::merge(const Losses& other) {
  for (const auto& [name, loss] : other.losses_) restore(name, loss);
}

bool Losses::counted(std::string_view name, uint64_t count) {
  const auto known = losses_.find(name);
  if (known == losses_.end()) return false;
  known->second.count += count;
  return true;
}

}  // namespace culprit
