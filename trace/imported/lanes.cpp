// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Times come from tools that round them, and from clocks of devices: what is off by so little is
// put right without a word.
#include "trace/imported/lanes.h"

#include <algorithm>
#include <utility>

namespace culprit::trace {
namespace {

/// Times may be rounded to a microsecond, and clocks of devices err by as much.
constexpr int64_t kUncertain = 1000;

/// Of two that begin and end together, the call of a runtime lies in the function that makes it,
/// and that in the range that the user named.
int depth_of(const Region& region) {
  if (region.role == RegionRole::iteration) return 0;
  if (region.role == RegionRole::code) return 1;
  return region.paradigm == Paradigm::compiler ? 2 : 3;
}

template <class Span>
void drop_reversed(std::vector<Span>& spans, Losses& losses) {
  const size_t before = spans.size();
  std::erase_if(spans, [](const Span& span) { return span.end < span.begin; });
  losses.add(LossKind::times_absurd, before - spans.size());
}

}  // namespace

void make_nested(std::vector<ImportedCall>& calls, const std::vector<Region>& regions,
                 Losses& losses) {
  drop_reversed(calls, losses);
  const auto depth = [&](const ImportedCall& call) {
    return depth_of(regions[call.region.index()]);
  };
  std::stable_sort(calls.begin(), calls.end(), [&](const ImportedCall& a, const ImportedCall& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    if (a.end != b.end) return a.end > b.end;
    return depth(a) < depth(b);
  });
  uint64_t cut = 0;
  std::vector<int64_t> open;  // ends of the calls around
  for (ImportedCall& call : calls) {
    while (!open.empty() && open.back() <= call.begin) open.pop_back();
    if (!open.empty() && call.end > open.back()) {
      cut += call.end - open.back() > kUncertain;
      call.end = open.back();
    }
    open.push_back(call.end);
  }
  losses.add(LossKind::regions_never_left, cut);
}

std::vector<std::vector<ImportedOperation>> lanes_of(std::vector<ImportedOperation> operations,
                                                     Losses& losses) {
  drop_reversed(operations, losses);
  std::stable_sort(operations.begin(), operations.end(),
                   [](const ImportedOperation& a, const ImportedOperation& b) {
                     return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
                   });
  std::vector<std::vector<ImportedOperation>> lanes;
  for (ImportedOperation& operation : operations) {
    size_t lane = 0;
    while (lane < lanes.size() && lanes[lane].back().end - operation.begin > kUncertain) ++lane;
    if (lane == lanes.size()) {
      lanes.emplace_back();
    } else {
      operation.begin = std::max(operation.begin, lanes[lane].back().end);
      operation.end = std::max(operation.end, operation.begin);
    }
    lanes[lane].push_back(operation);
  }
  return lanes;
}

}  // namespace culprit::trace
