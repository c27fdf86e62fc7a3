// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Many more changes may be there than the room holds: then they are merged in rounds, each up to a
// moment before which no list has more than its part of the room.
#include "fold/potential/cut.h"

#include <algorithm>

namespace culprit::fold {

namespace {

uint32_t count_before(const ChangeList& list, uint64_t bound) {
  const Change* const end = list.begin() + list.count();
  return static_cast<uint32_t>(
      std::lower_bound(list.begin(), end, bound,
                       [](const Change& change, uint64_t time) { return change.time < time; }) -
      list.begin());
}

uint64_t settled_until(std::span<ChangeList* const> lists, uint64_t until, uint64_t patience) {
  uint64_t settled = until;
  for (const ChangeList* list : lists) {
    const uint64_t fork = list->open_fork();
    if (fork <= until && until - fork <= patience) settled = std::min(settled, fork - 1);
  }
  return settled;
}

/// Fills in the parts of one round: changes before `bound`. False if it is the last.
bool next_round(std::span<ChangeList* const> lists, uint64_t bound, MergeRoom room) {
  const auto quota = static_cast<uint32_t>(room.from.size() / lists.size());
  bool last = true;
  for (const ChangeList* list : lists) {
    if (count_before(*list, bound) <= quota) continue;
    last = false;
    bound = list->begin()[quota].time;
  }
  uint64_t total = 0;
  for (size_t i = 0; i < lists.size(); ++i) {
    room.parts[i] = {lists[i]->begin(), count_before(*lists[i], bound), 0};
    total += room.parts[i].count;
  }
  if (total > 0 || last) return !last;
  // More changes at one moment than fit: they go on in the order of the lists.
  for (size_t i = 0; i < lists.size(); ++i) {
    room.parts[i].count = std::min(count_before(*lists[i], bound + 1), quota);
  }
  return true;
}

}  // namespace

uint64_t cut(std::span<ChangeList* const> lists, uint64_t until, uint64_t patience, MergeRoom room,
             Potential& potential) {
  if (lists.empty()) return until;
  const uint64_t settled = settled_until(lists, until, patience);
  const uint64_t bound = settled < UINT64_MAX ? settled + 1 : settled;
  for (bool more = true; more;) {
    more = next_round(lists, bound, room);
    potential.apply(merge(room));
    for (size_t i = 0; i < lists.size(); ++i) lists[i]->take(room.parts[i].count);
  }
  for (ChangeList* list : lists) list->compact();
  return settled;
}

}  // namespace culprit::fold
