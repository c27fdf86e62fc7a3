// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "fold/open_records.h"

#include <algorithm>
#include <cstring>

namespace culprit::fold {

void OpenRecords::fill(Carried& record, uint64_t before) {
  record.order = ++state_.order;
  record.before = before;
  record.header = header;
  record.header.words = static_cast<uint8_t>(std::min<unsigned>(header.words, kCarriedWords));
  std::memcpy(record.words, words, record.header.words * sizeof(uint64_t));
}

void OpenRecords::push(uint64_t before) {
  if (state_.open_count == kMostOpen) {
    ++state_.deeper;
    ++state_.lost_constructs;
    return;
  }
  fill(state_.open[state_.open_count++], before);
}

void OpenRecords::pop_to(unsigned depth) {
  if (depth == kNotOpen) return;
  if (state_.deeper > 0) {
    --state_.deeper;
  } else {
    state_.open_count = depth;
  }
}

void OpenRecords::pop_all(unsigned depth) {
  state_.deeper = 0;
  state_.open_count = depth;
}

void OpenRecords::hold(Space space, uint64_t key, uint64_t before) {
  release(space, key);
  Held& held = add_held(state_, space, key);
  fill(held.record, before);
  held.call = 0;
  const unsigned entered = call();
  if (entered == kNotOpen) return;
  held.call = at(entered).order;
  held.path = at(entered).header.arg;
  held.name = at(entered).header.flags;
}

}  // namespace culprit::fold
