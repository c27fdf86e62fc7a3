// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Mostly no member was silent, and then there is little to do. Otherwise each member is paired with
// each silent member, or, where many take part, with the last of these to come back.
#include "replay/detect/progress/collective_helpers.h"

#include <algorithm>
#include <utility>

namespace culprit::replay {

namespace {

bool goes_on_beside(const Part& part) {
  return part.posted.leave <= part.completed.enter && part.posted.enter < part.completed.enter;
}

/// Returns when all members had begun that began before the waiter ended. `last`: when the last of
/// all began.
Time begun_for(std::span<const Part> parts, const Part& waiter, Time last) {
  Time begun = waiter.posted.enter;
  if (last < waiter.completed.leave) return std::max(begun, last);
  for (const Part& part : parts) {
    if (part.posted.enter < waiter.completed.leave) begun = std::max(begun, part.posted.enter);
  }
  return begun;
}

}  // namespace

void CollectiveHelpers::visit(std::span<const Part> parts, const CollectiveKind& kind) {
  if (out_.silences == nullptr || parts.size() < 2 || kind.shape == Shape::none) return;
  if (parts[0].op->op == trace::CollectiveOp::other)
    return;  // an operation on files: the kernel moves the data
  if (kind.shape != Shape::fence && std::none_of(parts.begin(), parts.end(), goes_on_beside))
    return;
  const std::string& node = run_.definitions->processes[process(parts[0]).index()].node;
  far_ = std::any_of(parts.begin(), parts.end(), [&](const Part& part) {
    return run_.definitions->processes[process(part).index()].node != node;
  });
  find_silent(parts, kind);
  last_posted_ = Time::min();
  for (const Part& part : parts) last_posted_ = std::max(last_posted_, part.posted.enter);
  for (const Part& part : parts) {
    if (part.op->may_wait || part.op->polled) note(parts, kind, part);
  }
}

void CollectiveHelpers::find_silent(std::span<const Part> parts, const CollectiveKind& kind) {
  silent_.clear();
  Time end = Time::min();
  for (const Part& part : parts) end = std::max(end, part.completed.leave);
  for (const Part& part : parts) {
    const bool beside = goes_on_beside(part);
    if (!beside && kind.shape != Shape::fence) continue;
    const Time from = beside ? part.posted.leave : part.completed.leave;
    const Time until = beside ? part.completed.enter : Time::max();
    const Silence* last = out_.silences->last_before(process(part), std::min(end, until));
    if (last != nullptr && last->end >= from + kShortestSilence) {
      silent_.push_back({&part, from, until, last->end});
    }
  }
  std::sort(silent_.begin(), silent_.end(), [](const Silent& a, const Silent& b) {
    return a.back != b.back ? a.back > b.back : a.part < b.part;
  });
}

bool CollectiveHelpers::helps(const CollectiveKind& kind, const Part& who,
                              const Part& waiter) const {
  if (who.location == waiter.location || who.posted.enter > waiter.completed.leave) return false;
  if (kind.shape == Shape::prefix) return who.rank < waiter.rank;
  if (kind.shape != Shape::neighbors) return true;
  return shapes_.gives(who, waiter) || shapes_.gives(waiter, who);
}

Assisted CollectiveHelpers::operation_of(std::span<const Part> parts, const Part& waiter) const {
  const auto bytes =
      static_cast<uint32_t>(std::min<uint64_t>(waiter.op->bytes_received, UINT32_MAX));
  const CallPathId path = waiter.posted.path;
  const RegionId region = path.valid() ? run_.callpaths[path].region : RegionId::none();
  Assisted one{.at = waiter.location,
               .call = waiter.completed,
               .who = {},
               .begun = begun_for(parts, waiter, last_posted_),
               .from = Time::min(),
               .until = Time::min(),
               .asked = waiter.op->polled ? waiter.completed.enter : Time::max(),
               .bytes = bytes,
               .kind = progress_class(region, Helper::member, far_, bytes)};
  one.kind.members = static_cast<uint32_t>(parts.size());
  if (parts.size() <= kFewMembers) one.kind.waiter = process(waiter);
  return one;
}

void CollectiveHelpers::note(std::span<const Part> parts, const CollectiveKind& kind,
                             const Part& waiter) {
  Assisted one = operation_of(parts, waiter);
  const bool few = parts.size() <= kFewMembers;
  bool nobody = true, still = false;
  for (const Silent& silent : silent_) {
    if (!helps(kind, *silent.part, waiter)) continue;
    // A member that was back before all had begun did not delay the operation.
    if (silent.back < std::max(one.begun, silent.from) + kShortestSilence) continue;
    nobody = false;
    const bool open = silent.back > waiter.completed.leave;
    if (!few && open && std::exchange(still, true)) continue;  // one is as much evidence as many
    one.who = process(*silent.part);
    one.from = silent.from, one.until = silent.until;
    if (few) one.kind.who = one.who;
    if (!out_.needs_judging(one, evidence_)) continue;
    box_.assisted(one);
    if (!few) break;
  }
  if (nobody) evidence_.add_alone(one);
}

}  // namespace culprit::replay
