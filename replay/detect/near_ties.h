// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Who is late together is to blame together. Of all whom a location p waits for in one call, the
// last to act ends the wait, w after p began; but who acted after 0.9 w is as good as late: had the
// last one been in time, p would have waited hardly less. A detector tells such others, so that the
// delay analysis shares the wait among all of them (delay.h).
#pragma once

#include <algorithm>
#include <vector>

#include "base/time.h"

namespace culprit::replay {

/// Is who acted at `other` nearly as late as the last, for who waited since `begin`?
inline bool nearly_as_late(Time begin, Time other, Time last) {
  return 10 * (other - begin).nanos() >= 9 * (last - begin).nanos();
}

/// So many besides the last are told, the latest: in a crowd of thousands these change from wait to
/// wait, and all get their part.
inline constexpr size_t kMostTies = 8;

/// Those of `all` that enter last, the latest first, without the very last, `cause`.
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
