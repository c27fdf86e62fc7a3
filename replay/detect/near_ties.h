// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Locations that are late together share the blame. Of all locations that p waits for in one call,
// the last to act ends the wait, w after p began; but a location that acted after 0.9 w is as good
// as late: had the last one been in time, p would have waited hardly less. A detector records these
// others as ties, so that the delay analysis shares the wait among all of them (delay.h).
#pragma once

#include <algorithm>
#include <vector>

#include "base/time.h"

namespace culprit::replay {

/// Returns whether a location that acted at `other` is nearly as late as the one that acted at
/// `last`, for a wait that began at `begin`.
inline bool nearly_as_late(Time begin, Time other, Time last) {
  return 10 * (other - begin).nanos() >= 9 * (last - begin).nanos();
}

/// At most this many ties are recorded per wait, the latest: among thousands of locations the
/// latest ones change from wait to wait, so that all get their share over time.
inline constexpr size_t kMostTies = 8;

/// Returns the parts of `all` that enter last, the latest first, without the very last, `cause`.
template <class Part, class Enter>
void find_latest(const std::vector<const Part*>& all, const Part* cause, const Enter& enter,
                 std::vector<const Part*>& latest) {
  latest.clear();
  for (const Part* part : all) {
    if (part != cause) latest.push_back(part);
  }
  const size_t count = std::min(latest.size(), kMostTies);
  std::partial_sort(latest.begin(), latest.begin() + static_cast<std::ptrdiff_t>(count),
                    latest.end(),
                    [&](const Part* a, const Part* b) { return enter(*a) > enter(*b); });
  latest.resize(count);
}

}  // namespace culprit::replay
