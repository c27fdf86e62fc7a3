// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Sums by location in parallel, each into a table of its own.
#include "blame/delay/wait_sums.h"

#include "base/flat_map.h"
#include "base/parallel.h"
#include "blame/profile/stretches.h"

namespace culprit::blame {

namespace {

/// The sums of one location, by pattern and call path.
class Sums {
 public:
  WaitSum& at(replay::Pattern pattern, CallPathId path) {
    const auto fresh = static_cast<uint32_t>(rows_.size());
    const uint64_t key = uint64_t{path.index()} << 8 | static_cast<uint8_t>(pattern);
    const uint32_t row = row_of_.at(key, fresh);
    if (row == fresh) rows_.push_back({pattern, path, 0, Duration::zero()});
    return rows_[row];
  }
  std::vector<WaitSum> take() { return std::move(rows_); }

 private:
  std::vector<WaitSum> rows_;
  FlatMap row_of_;
};

/// A polling thread may call several test functions: each has its own time.
void add_polling(const replay::Run& run, LocationId id, const replay::Wait& wait, Sums& sums) {
  for_each_stretch(run, id, {&wait, 1}, wait.begin, wait.end,
                   [&](Time begin, Time end, CallPathId path, const replay::Wait* polling) {
                     if (polling != nullptr) sums.at(wait.pattern, path).time += end - begin;
                   });
}

std::vector<WaitSum> sums_of(const replay::Run& run, LocationId id, const replay::WaitGraph& graph,
                             const DelayAnalysis& delays) {
  const Column<replay::Wait>& waits = graph.waits[id.index()];
  const Column<replay::Wait>& ties = graph.ties[id.index()];
  const Column<WaitCause>& causes = delays.causes[id.index()];
  Sums sums;
  for (size_t w = 0; w < waits.size(); ++w) {
    const replay::Wait& wait = waits[w];
    if (replay::is_before_begin(wait.pattern)) continue;
    const bool counts = replay::counts_as_waiting(wait.pattern);
    if (!counts) add_polling(run, id, wait, sums);
    WaitSum& sum = sums.at(wait.pattern, wait.path);
    ++sum.count;
    if (counts) sum.time += wait.amount;
    sum.indirect_s += causes[w].share * causes[w].late.indirect_s(wait.amount);
    sum.propagating_s += causes[w].propagating_s;
  }
  for (size_t t = 0; t < ties.size(); ++t) {
    const WaitCause& cause = causes[waits.size() + t];
    sums.at(ties[t].pattern, ties[t].path).indirect_s +=
        cause.share * cause.late.indirect_s(ties[t].amount);
  }
  return sums.take();
}

}  // namespace

WaitSums sum_waits(const replay::Run& run, const replay::WaitGraph& graph,
                   const DelayAnalysis& delays, unsigned threads) {
  WaitSums sums(run.timelines.size());
  parallel_for(run.locations.size(), threads, [&](size_t i) {
    const LocationId id = run.locations[i];
    sums[id.index()] = sums_of(run, id, graph, delays);
  });
  return sums;
}

}  // namespace culprit::blame
