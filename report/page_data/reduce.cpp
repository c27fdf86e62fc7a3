// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Each list is cut to its size by one order: first the rows in an important window, then by length.

#include "report/page_data/reduce.h"

#include <algorithm>
#include <vector>

namespace culprit::report {
namespace {

struct Window {
  Time begin, end;
};

Time moment(double seconds) {
  return Time::from_nanos(static_cast<int64_t>(seconds * 1e9));
}

/// Returns iterations sorted by their longest visit.
std::vector<const blame::FoundStage*> slowest_iterations(const blame::Findings& findings) {
  constexpr size_t kMost = 3;
  std::vector<const blame::FoundStage*> all;
  for (const blame::FoundStage& stage : findings.stages) {
    if (stage.kind == blame::StageKind::iteration) all.push_back(&stage);
  }
  const size_t count = std::min(all.size(), kMost);
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end(),
                    [](const auto* a, const auto* b) { return a->longest_s > b->longest_s; });
  all.resize(count);
  return all;
}

/// Returns the windows: each of the worst waits with its length added on both sides, and the
/// slowest iterations.
std::vector<Window> windows_of(const blame::Findings& findings) {
  std::vector<Window> windows;
  for (const blame::FoundInstance& row : findings.instances) {
    const double length = row.end_s - row.begin_s;
    windows.push_back({moment(row.begin_s - length), moment(row.end_s + length)});
  }
  for (const blame::FoundStage* stage : slowest_iterations(findings)) {
    windows.push_back({moment(stage->begin_s), moment(stage->end_s)});
  }
  return windows;
}

template <class Row>
Time begin_of(const Row& row) {
  return row.begin;
}
template <class Row>
Time end_of(const Row& row) {
  return row.end;
}
template <>
Time begin_of(const blame::ExcerptMessage& row) {
  return row.sent;
}
template <>
Time end_of(const blame::ExcerptMessage& row) {
  return row.received;
}

/// Returns how many are dropped. First come those of the windows, then the longest.
template <class Row>
uint64_t keep_most(std::vector<Row>& rows, const std::vector<Window>& windows, size_t most) {
  if (rows.size() <= most) return 0;
  const auto rank = [&](const Row& row) {
    const bool inside = std::any_of(windows.begin(), windows.end(), [&](const Window& window) {
      return begin_of(row) < window.end && end_of(row) > window.begin;
    });
    return std::pair(inside, end_of(row) - begin_of(row));
  };
  std::vector<std::pair<std::pair<bool, Duration>, size_t>> order;
  order.reserve(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) order.emplace_back(rank(rows[i]), i);
  std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(most), order.end(),
                   [](const auto& a, const auto& b) {
                     return a.first != b.first ? a.first > b.first : a.second < b.second;
                   });
  std::vector<bool> kept(rows.size());
  for (size_t i = 0; i < most; ++i) kept[order[i].second] = true;
  size_t to = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (kept[i]) rows[to++] = rows[i];
  }
  const uint64_t dropped = rows.size() - to;
  rows.resize(to);
  return dropped;
}

}  // namespace

blame::Excerpt part_of(const blame::Excerpt& excerpt, const blame::ExcerptSelection& selection) {
  const Window window{moment(selection.from_s), selection.to_s < excerpt.wall.seconds()
                                                    ? moment(selection.to_s)
                                                    : Time::max()};
  const auto wanted = [&](LocationId id) {
    return selection.ranks.empty() || selection.ranks.contains(excerpt.locations[id.index()].rank);
  };
  const auto inside = [&](const auto& row) {
    return begin_of(row) < window.end && end_of(row) > window.begin;
  };
  blame::Excerpt part;
  part.wall = excerpt.wall;
  for (const auto& row : excerpt.activities) {
    if (inside(row) && wanted(row.location)) part.activities.push_back(row);
  }
  for (const auto& row : excerpt.waits) {
    if (inside(row) && wanted(row.location)) part.waits.push_back(row);
  }
  for (const auto& row : excerpt.messages) {
    if (inside(row) && (wanted(row.sender) || wanted(row.receiver))) part.messages.push_back(row);
  }
  return part;
}

bool same_run(const blame::Excerpt& excerpt, const blame::Findings& findings) {
  const auto same = [](const auto& a, const auto& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return x.name == y.name; });
  };
  return same(excerpt.locations, findings.locations) && same(excerpt.callpaths, findings.callpaths);
}

void reduce(blame::Excerpt& excerpt, const blame::Findings& findings, size_t most) {
  const std::vector<Window> windows = windows_of(findings);
  excerpt.left_out += keep_most(excerpt.activities, windows, most);
  excerpt.left_out += keep_most(excerpt.waits, windows, most);
  excerpt.left_out += keep_most(excerpt.messages, windows, most);
}

}  // namespace culprit::report
