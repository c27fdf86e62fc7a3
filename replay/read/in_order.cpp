// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The earliest and the latest partner that each operation may have, in one pass from each end;
// where both agree it is certain.
#include "replay/read/in_order.h"

#include <algorithm>

namespace culprit::replay {

namespace {

/// The calls that an operation may be of, by time alone: from `first` to before `end`.
struct Range {
  size_t first, end;
  bool empty() const { return first >= end; }
};

/// Later operations' ranges begin and end no earlier.
std::vector<Range> ranges_of(std::span<const HandedOver> calls, std::span<const Executed> executed,
                             Duration slack) {
  std::vector<Range> ranges;
  ranges.reserve(executed.size());
  size_t first = 0, end = 0;
  for (const Executed& operation : executed) {
    const Time ended = operation.end - slack, begun = operation.begin + slack;
    while (first < calls.size() && calls[first].done < ended) ++first;
    while (end < calls.size() && calls[end].enter <= begun) ++end;
    ranges.push_back({first, end});
  }
  return ranges;
}

/// Matches operations whose ranges overlap; returns false if they cannot all be matched to calls.
bool match(std::span<const Range> ranges, std::span<uint32_t> calls) {
  size_t next = 0;
  for (size_t i = 0; i < ranges.size(); ++i) {
    const size_t earliest = std::max(next, ranges[i].first);
    if (earliest >= ranges[i].end) return false;
    calls[i] = static_cast<uint32_t>(earliest);
    next = earliest + 1;
  }
  size_t before = ranges.back().end;
  for (size_t i = ranges.size(); i-- > 0;) {
    const size_t latest = std::min(before, ranges[i].end) - 1;
    if (calls[i] != latest) calls[i] = kNoCall;
    before = latest;
  }
  return true;
}

/// Calls visit(begin, end) for operations that have no calls in common with others.
template <class Visit>
void for_each_group(std::span<const Range> ranges, const Visit& visit) {
  for (size_t begin = 0, end = 0; begin < ranges.size(); begin = end) {
    size_t reach = ranges[begin].end;
    for (end = begin + 1; end < ranges.size() && ranges[end].first < reach; ++end) {
      reach = std::max(reach, ranges[end].end);
    }
    visit(begin, end);
  }
}

}  // namespace

Duration clock_disagreement(std::span<const HandedOver> calls, std::span<const Executed> executed) {
  constexpr int64_t kMost = 128'000;
  std::vector<uint32_t> of(executed.size());
  for (int64_t slack = 0; slack <= kMost; slack = slack == 0 ? 1000 : 2 * slack) {
    const std::vector<Range> ranges = ranges_of(calls, executed, Duration::from_nanos(slack));
    bool good = true;
    for_each_group(ranges, [&](size_t begin, size_t end) {
      good = good && match(std::span(ranges).subspan(begin, end - begin),
                           std::span(of).subspan(begin, end - begin));
    });
    if (good) return Duration::from_nanos(slack);
  }
  return Time::max() - Time();
}

std::vector<uint32_t> match_in_order(std::span<const HandedOver> calls,
                                     std::span<const Executed> executed, Duration slack) {
  std::vector<uint32_t> of(executed.size(), kNoCall);
  const std::vector<Range> ranges = ranges_of(calls, executed, slack);
  for_each_group(ranges, [&](size_t begin, size_t end) {
    const std::span<uint32_t> own = std::span(of).subspan(begin, end - begin);
    if (!match(std::span(ranges).subspan(begin, end - begin), own)) {
      std::fill(own.begin(), own.end(), kNoCall);
    }
  });
  return of;
}

}  // namespace culprit::replay
