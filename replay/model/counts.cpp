// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "replay/model/counts.h"

#include <algorithm>

namespace culprit::replay {

using trace::MetricMode;

// Parents have smaller numbers than their children.
CallPathId common_path(const CallPathTree& tree, CallPathId a, CallPathId b) {
  while (a != b && a.valid() && b.valid()) {
    CallPathId& deeper = a.index() > b.index() ? a : b;
    deeper = tree[deeper].parent;
  }
  return a == b ? a : CallPathId::none();
}

void Counts::add(const Count& count, const trace::Definitions& definitions) {
  const auto [it, fresh] = counts_.try_emplace({count.path, count.metric}, count);
  if (fresh) return;
  Count& sum = it->second;
  const bool level = definitions.metrics[count.metric.index()].mode == MetricMode::level;
  sum.value = level ? std::max(sum.value, count.value) : sum.value + count.value;
  sum.time += count.time;
}

std::vector<Count> Counts::take() const {
  std::vector<Count> all;
  for (const auto& [key, count] : counts_) all.push_back(count);
  return all;
}

void CountBuilder::spent_time_at(const CallPathTree& tree, CallPathId path) {
  for (Set& set : sets_) {
    set.common = set.moved ? common_path(tree, set.common, path) : path;
    set.moved = true;
  }
}

void CountBuilder::read(Time time, MetricSetId id, std::span<const double> values,
                        CallPathId path) {
  counting_ = true;
  Set& set = sets_[id.index()];
  const trace::MetricSet& metrics = definitions_.metric_sets[id.index()];
  const CallPathId where = set.moved ? set.common : path;
  for (size_t i = 0; i < metrics.size() && !set.last.empty(); ++i) {
    const MetricMode mode = definitions_.metrics[metrics[i].index()].mode;
    const double value = mode == MetricMode::accumulated ? values[i] - set.last[i] : values[i];
    counts_.add({where, metrics[i], value, time - set.since}, definitions_);
  }
  set.last.assign(values.begin(), values.end());
  set.since = time;
  set.moved = false;
}

}  // namespace culprit::replay
