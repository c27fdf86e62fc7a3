// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "blame/wait_sums.h"

#include "base/flat_map.h"
#include "base/parallel.h"

namespace culprit::blame {

namespace {

std::vector<WaitSum> sums_of(const Column<replay::Wait>& waits, const Column<WaitCause>& causes) {
  std::vector<WaitSum> sums;
  FlatMap row_of;
  for (size_t w = 0; w < waits.size(); ++w) {
    const replay::Wait& wait = waits[w];
    if (replay::is_before_begin(wait.pattern)) continue;
    const auto fresh = static_cast<uint32_t>(sums.size());
    const uint64_t key = uint64_t{wait.path.index()} << 8 | static_cast<uint8_t>(wait.pattern);
    const uint32_t row = row_of.at(key, fresh);
    if (row == fresh) sums.push_back({wait.pattern, wait.path, 0, Duration::zero()});
    WaitSum& sum = sums[row];
    ++sum.count;
    sum.time += wait.amount;
    sum.indirect_s += causes[w].indirect_s(wait.amount);
    sum.propagating_s += causes[w].propagating_s;
  }
  return sums;
}

}  // namespace

WaitSums sum_waits(const replay::Run& run, const replay::WaitGraph& graph,
                   const DelayAnalysis& delays, unsigned threads) {
  WaitSums sums(run.timelines.size());
  parallel_for(run.locations.size(), threads, [&](size_t i) {
    const size_t id = run.locations[i].index();
    sums[id] = sums_of(graph.waits[id], delays.causes[id]);
  });
  return sums;
}

}  // namespace culprit::blame
