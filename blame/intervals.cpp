// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "blame/intervals.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/flat_map.h"
#include "base/merge_runs.h"
#include "base/parallel.h"
#include "blame/meetings.h"

namespace culprit::blame {

namespace {

using replay::Sync;

/// Of each wait, the number of the synchronisation point in which it and its cause met last.
Column<uint32_t> find_meetings(const Column<replay::Wait>& waits, const Column<Sync>& syncs,
                               Meetings& meetings) {
  Column<uint32_t> numbers;
  numbers.resize_uninitialized(waits.size());
  meetings.start();
  uint32_t next = 0;
  for (size_t w = 0; w < waits.size(); ++w) {
    // A point counts once its operation is over; the wait's own operation is not.
    for (; next < syncs.size() && syncs[next].exit() <= waits[w].begin; ++next) {
      meetings.add(syncs[next], next);
    }
    numbers[w] = meetings.last(waits[w].cause);
  }
  return numbers;
}

/// By group, and within a group, where they come in order of time, by instance.
Column<uint32_t> index_instances(const Column<Sync>& syncs) {
  FlatMap place_of;
  std::vector<std::pair<replay::GroupId, uint32_t>> groups;  // and how many instances
  uint32_t place = 0;                                        // the same as before, mostly
  const auto find_place = [&](replay::GroupId group) {
    if (place < groups.size() && groups[place].first == group) return;
    const uint32_t fresh = static_cast<uint32_t>(groups.size());
    place = place_of.at(group.index(), fresh);
    if (place == fresh) groups.emplace_back(group, 0);
  };
  for (const Sync& sync : syncs) {
    if (!sync.of_group()) continue;
    find_place(sync.group());
    ++groups[place].second;
  }
  std::vector<uint32_t> by_id(groups.size()), next(groups.size());
  std::iota(by_id.begin(), by_id.end(), 0u);
  std::sort(by_id.begin(), by_id.end(),
            [&](uint32_t a, uint32_t b) { return groups[a] < groups[b]; });
  uint32_t sum = 0;
  for (uint32_t g : by_id) next[g] = sum, sum += groups[g].second;
  Column<uint32_t> index;
  index.resize_uninitialized(sum);
  for (uint32_t s = 0; s < syncs.size(); ++s) {
    if (!syncs[s].of_group()) continue;
    find_place(syncs[s].group());
    index[next[place]++] = s;
  }
  const auto earlier = [&](uint32_t a, uint32_t b) {
    return syncs[a].instance() < syncs[b].instance();
  };
  for (uint32_t g : by_id) {
    uint32_t* const end = index.begin() + next[g];
    merge_runs(end - groups[g].second, end, earlier);
  }
  return index;
}

}  // namespace

Intervals::Intervals(const replay::Run& run, const replay::WaitGraph& graph, unsigned threads)
    : run_(run), graph_(graph), numbers_(run.timelines.size()), instances_(run.timelines.size()) {
  static_assert(kNever == Meetings::kNever);
  parallel_for(
      run.locations.size(), threads, [&] { return Meetings(graph.groups); },
      [&](size_t i, Meetings& meetings) {
        const size_t id = run.locations[i].index();
        const Column<Sync>& syncs = graph.syncs[id];
        CULPRIT_CHECK(syncs.size() < kNever);
        numbers_[id] = find_meetings(graph.waits[id], syncs, meetings);
        instances_[id] = index_instances(syncs);
      });
}

Time Intervals::exit_of(LocationId late, const Sync& meeting, size_t& place) const {
  if (!meeting.of_group()) return meeting.partner_exit();
  const Column<Sync>& syncs = graph_.syncs[late.index()];
  const Column<uint32_t>& index = instances_[late.index()];
  const auto key = std::tuple(meeting.group(), meeting.instance());
  const auto is_before = [&](uint32_t s, const auto& k) {
    return std::tuple(syncs[s].group(), syncs[s].instance()) < k;
  };
  constexpr size_t kNear = 4;
  for (size_t n = 0; n < kNear; ++n, ++place) {
    if (place >= index.size() || !is_before(index[place], key)) break;
  }
  const bool found = place < index.size() && syncs[index[place]].instance() == meeting.instance() &&
                     syncs[index[place]].group() == meeting.group();
  if (!found) {
    place = static_cast<size_t>(std::lower_bound(index.begin(), index.end(), key, is_before) -
                                index.begin());
  }
  CULPRIT_CHECK(place < index.size() && syncs[index[place]].instance() == meeting.instance());
  return syncs[index[place]].exit();
}

}  // namespace culprit::blame
