// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "predict/rerun/depend/progress.h"

#include <algorithm>
#include <map>
#include <utility>

namespace culprit::predict {

void Progress::add(LocationId location, const replay::Call& call, Time since, LocationId other,
                   const replay::Call& back, const Delivery& delivery) {
  if (call.leave <= back.enter) {
    unaided_ = std::max(unaided_, delivery.bytes);
    return;
  }
  candidates_.push_back({location, other, call, std::max(since, call.enter), back.enter, delivery});
}

void Progress::append(Progress&& more) {
  candidates_.insert(candidates_.end(), more.candidates_.begin(), more.candidates_.end());
  unaided_ = std::max(unaided_, more.unaided_);
  more = {};
}

bool Progress::is_needed() const {
  constexpr int64_t kMuchLonger = 4;
  // A call may complete several messages: the last one counts.
  std::map<std::pair<LocationId, Time>, const Candidate*> last;
  for (const Candidate& each : candidates_) {
    if (each.delivery.bytes <= unaided_ || !each.was_there()) continue;
    const Candidate*& of_call = last[{each.location, each.call.enter}];
    if (of_call == nullptr || of_call->back < each.back) of_call = &each;
  }
  Duration before, after;
  for (const auto& [call, each] : last) {
    before += each->back - each->since;
    after += each->call.leave - each->back;
  }
  return before.nanos() > kMuchLonger * after.nanos();
}

void Progress::write(Dependences& found) const {
  if (!is_needed()) return;
  for (const Candidate& each : candidates_) {
    if (each.delivery.bytes <= unaided_) continue;
    const Time at = std::clamp(each.back, each.call.enter, each.call.leave);
    found.edge({each.other, each.back, each.back}, {each.location, at, each.call.enter},
               each.delivery);
    if (each.was_there()) found.idle.push_back({each.location, each.since, each.back});
  }
}

}  // namespace culprit::predict
