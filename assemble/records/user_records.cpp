// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A function that is left without an end is noticed by its frame: it lies deeper in the stack than
// the next one that is entered. Ends without a begin are counted.
#include "assemble/records/user_records.h"

#include <algorithm>

namespace culprit::assemble {
namespace {

using trace::RawKind;
using trace::RawUserRegion;
using trace::RegionRole;

RegionRole role_of(RawUserRegion kind) {
  if (kind == RawUserRegion::phase) return RegionRole::phase;
  return kind == RawUserRegion::iteration ? RegionRole::iteration : RegionRole::code;
}

/// Of a region that is no iteration.
constexpr uint64_t kNoNumber = uint64_t{1} << 63;

/// Whether the frame that begins at `a` (low half of its address) lies deeper than that at `b`.
bool lies_deeper(uint32_t a, uint32_t b) {
  return static_cast<int32_t>(a - b) < 0;
}

}  // namespace

void UserRecords::see(const RawRecord& record) {
  switch (record.kind) {
    case RawKind::user_enter:
      return region_enter(record);
    case RawKind::user_leave:
      return region_leave(record);
    case RawKind::func_enter:
      return function_enter(record);
    case RawKind::func_leave:
      return function_leave(record);
    default:
      return;
  }
}

// --- Regions that the program named ---

RegionId UserRecords::region(uint16_t name, RawUserRegion kind) {
  const auto known = state_.names.find(name);
  return state_.process.regions.user(known != state_.names.end() ? known->second : "(unnamed)",
                                     role_of(kind));
}

void UserRecords::region_enter(const RawRecord& record) {
  const auto begun = record.as<raw::user_enter>();
  const Time time = state_.time(record);
  state_.observe(time, begun.path);
  push({time, region(begun.name, begun.kind), role_of(begun.kind) == RegionRole::iteration,
        begun.iteration});
}

void UserRecords::push(const OpenRegion& region) {
  Timeline& timeline = state_.timeline;
  timeline.enter(region.time, Level::region, region.region,
                 region.numbered ? region.number : kNoNumber);
  if (region.numbered)
    timeline.sink().iteration(timeline.last(), static_cast<int64_t>(region.number));
}

void UserRecords::region_leave(const RawRecord& record) {
  Timeline& timeline = state_.timeline;
  const auto ended = record.as<raw::user_leave>();
  const RegionId left = region(ended.name, ended.kind);
  const size_t base = timeline.base();
  for (size_t i = timeline.stack().size(); i-- > 0 && i != base;) {
    if (timeline.stack()[i].level != Level::region || timeline.stack()[i].region != left) continue;
    return timeline.leave(state_.time(record), i);
  }
  // After a pause of recording, missing begins are expected.
  state_.losses.add(LossKind::user_regions_without_begin, state_.process.pauses.empty() ? 1 : 0);
}

// --- Functions ---

void UserRecords::drop_closed() {
  const auto& stack = state_.timeline.stack();
  while (!open_.empty()) {
    const OpenFunction& last = open_.back();
    if (last.depth < stack.size() && stack[last.depth].level == Level::function &&
        stack[last.depth].id == last.address) {
      return;
    }
    open_.pop_back();
  }
}

void UserRecords::function_enter(const RawRecord& record) {
  const auto entered = record.as<raw::func_enter>();
  const Code& code = state_.process.code.before(entered.function + 1);
  const bool own = !code.frames.empty() && code.frames.front().kind == CodeKind::user &&
                   code.frames.front().region.valid();
  if (!own) return;
  const RegionId function = code.frames.front().region;
  state_.process.regions.is_instrumented(function);
  Timeline& timeline = state_.timeline;
  const auto& stack = timeline.stack();
  // The thread that runs main is in it from the beginning.
  if (stack.size() == 1 && stack[0].level == Level::root && stack[0].region == function) return;
  const Time time = state_.time(record);
  drop_closed();
  const size_t base = timeline.base();
  while (!open_.empty() && (base == Timeline::npos || open_.back().depth > base) &&
         lies_deeper(open_.back().frame, entered.frame)) {
    leave_function(time, open_.size() - 1);
  }
  observe_caller(time, entered.caller);
  open_.push_back({stack.size(), entered.function, entered.frame});
  timeline.enter(time, Level::function, function, entered.function);
}

void UserRecords::observe_caller(Time time, uint64_t caller) {
  const auto [known, fresh] = callers_.try_emplace(caller);
  if (fresh) known->second = path_to(caller);
  const UserPath& path = known->second;
  if (!path.says_something() || !holds_open_functions(path)) {
    return state_.observe_code(time, caller);
  }
  state_.timeline.observe(time, path);
}

/// Nothing where the functions on the way there are not always the same.
UserPath UserRecords::path_to(uint64_t caller) {
  const auto& callers = state_.process.survey.callers;
  const auto paths = callers.find(caller);
  UserPath found;
  if (paths == callers.end()) return found;
  for (const std::vector<uint64_t>& addresses : paths->second) {
    UserPath path = state_.paths.path_of(addresses, false);
    if (found.says_something() && path.frames != found.frames) return {};
    found = std::move(path);
  }
  return found;
}

/// Or the caller has been reached along another way than the one that is known.
bool UserRecords::holds_open_functions(const UserPath& path) const {
  if (path.in_construct) return true;  // they are outside of the part that the path covers
  auto at = path.frames.begin();
  for (const Timeline::Entry& entry : state_.timeline.stack()) {
    if (entry.level != Level::function) continue;
    at = std::find(at, path.frames.end(), entry.region);
    if (at == path.frames.end()) return false;
    ++at;
  }
  return true;
}

void UserRecords::function_leave(const RawRecord& record) {
  const uint64_t left = record.as<raw::func_leave>().function;
  drop_closed();
  const size_t base = state_.timeline.base();
  for (size_t i = open_.size(); i-- > 0;) {
    if (base != Timeline::npos && open_[i].depth <= base) return;
    if (open_[i].address != left) continue;
    return leave_function(state_.time(record), i);
  }
}

/// Regions that were begun in the function, and not ended, go on: programs wrap the calls.
void UserRecords::leave_function(Time time, size_t open) {
  Timeline& timeline = state_.timeline;
  std::vector<OpenRegion> regions;
  for (size_t i = open_[open].depth; i < timeline.stack().size(); ++i) {
    const Timeline::Entry& entry = timeline.stack()[i];
    if (entry.level != Level::region) continue;
    regions.push_back({time, entry.region, entry.id != kNoNumber, entry.id});
  }
  timeline.leave(time, open_[open].depth);
  open_.resize(open);
  for (const OpenRegion& region : regions) push(region);
}

}  // namespace culprit::assemble
