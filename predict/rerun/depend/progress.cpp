// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "predict/rerun/depend/progress.h"

#include <algorithm>

namespace culprit::predict {

void Progress::add(LocationId location, const replay::Call& call, Time since, LocationId other,
                   const replay::Call& back, uint32_t bytes) {
  if (call.leave <= back.enter) {
    unaided_ = std::max(unaided_, bytes);
    return;
  }
  candidates_.push_back({location, other, call, std::max(since, call.enter), back.enter, bytes});
}

void Progress::append(Progress&& more) {
  candidates_.insert(candidates_.end(), more.candidates_.begin(), more.candidates_.end());
  unaided_ = std::max(unaided_, more.unaided_);
  more = {};
}

void Progress::write(Dependences& found) const {
  constexpr int64_t kMuchLonger = 10;
  Duration before, after;
  for (const Candidate& each : candidates_) {
    if (each.bytes <= unaided_ || !each.was_there()) continue;
    before += each.back - each.since;
    after += each.call.leave - each.back;
  }
  if (before.nanos() <= kMuchLonger * after.nanos()) return;
  for (const Candidate& each : candidates_) {
    if (each.bytes <= unaided_) continue;
    const Time at = std::clamp(each.back, each.call.enter, each.call.leave);
    found.edge({each.other, each.back, each.back}, {each.location, at, each.call.enter},
               GateKind::message);
    if (each.was_there()) found.idle.push_back({each.location, each.since, each.back});
  }
}

}  // namespace culprit::predict
