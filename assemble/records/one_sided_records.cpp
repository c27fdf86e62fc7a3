// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Operations under way are kept by window and target until a flush, an unlock, a fence, or their
// own request completes them.
#include "assemble/records/one_sided_records.h"

namespace culprit::assemble {
namespace {

using trace::RawKind;
using trace::RmaAssertions;
using trace::RmaCompletion;
using trace::RmaEpoch;
using trace::RmaLockStep;
using trace::RmaOpId;
using trace::RmaSyncKind;

/// Ids of ours stay clear of the program's requests.
constexpr uint64_t kOwnIds = uint64_t{1} << 63;

constexpr uint16_t kAssertions = 0x1f;

/// A value of the enumeration that ends with `last`; values beyond it come from damage, and become
/// `last`.
template <class Enum>
Enum checked(Enum value, Enum last) {
  return value <= last ? value : last;
}

std::optional<uint32_t> target_of(uint64_t target) {
  if (target == trace::kRawAllTargets) return std::nullopt;
  return static_cast<uint32_t>(target);
}

/// `what`: of an rma_epoch, or of an rma_lock.
RmaAssertions assertions_of(uint16_t what) {
  return static_cast<RmaAssertions>(what >> trace::kRawRmaAssertionsShift & kAssertions);
}

}  // namespace

void OneSidedRecords::see(const RawRecord& record) {
  const WindowId window = window_of(record);
  if (record.kind == RawKind::rma_epoch && !ranks_.add(record)) return;
  if (!window.valid()) return;
  state_.timeline.observe_nothing(state_.time(record));
  const Time time = state_.timeline.advance(state_.time(record));
  if (!names_ranks(record, window)) {
    return state_.losses.add(LossKind::records_of_unknown_windows_and_files);
  }
  switch (record.kind) {
    case RawKind::rma_win_def:
      return window_made(time, window);
    case RawKind::rma_win_free:
      return window_freed(time, window);
    case RawKind::rma_op:
      return operation(record.as<raw::rma_op>(), time, window);
    case RawKind::rma_op_done:
      return operation_done(record.as<raw::rma_op_done>(), time, window);
    case RawKind::rma_fence:
      return fence(record.as<raw::rma_fence>(), time, window);
    case RawKind::rma_epoch:
      return epoch(record.as<raw::rma_epoch>(), time, window);
    case RawKind::rma_lock:
      return lock(record.as<raw::rma_lock>(), time, window);
    case RawKind::rma_sync:
      return sync(record.as<raw::rma_sync>(), time, window);
    default:
      return;
  }
}

WindowId OneSidedRecords::window_of(const RawRecord& record) {
  const auto known = state_.process.objects.windows.find(record.as<raw::rma_win_free>().window);
  if (known != state_.process.objects.windows.end()) return known->second;
  state_.losses.add(LossKind::operations_on_unknown_windows);
  return WindowId::none();
}

/// Whether the target of an operation, if it has one, is in the window.
bool OneSidedRecords::names_ranks(const RawRecord& record, WindowId window) const {
  const uint32_t ranks = state_.process.ranks_in(window);
  const auto in_window = [&](std::optional<uint32_t> target) { return !target || *target < ranks; };
  switch (record.kind) {
    case RawKind::rma_op:
      return record.as<raw::rma_op>().target < ranks;
    case RawKind::rma_lock:
      return in_window(target_of(record.as<raw::rma_lock>().target));
    case RawKind::rma_sync:
      return in_window(target_of(record.as<raw::rma_sync>().target));
    default:
      return true;
  }
}

void OneSidedRecords::window_made(Time time, WindowId window) {
  sink().rma_window_created(time, window);
  trace::RmaCollective made;
  made.op = trace::CollectiveOp::create_handle;
  made.window = window;
  sink().rma_collective(time, made);
}

void OneSidedRecords::window_freed(Time time, WindowId window) {
  sink().rma_window_destroyed(time, window);
  trace::RmaCollective freed;
  freed.op = trace::CollectiveOp::destroy_handle;
  freed.window = window;
  sink().rma_collective(time, freed);
  complete(time, window, std::nullopt, true);
  windows_.erase(window);
}

void OneSidedRecords::operation(const raw::rma_op& begun, Time time, WindowId window) {
  trace::RmaOperation operation;
  operation.window = window;
  operation.target = static_cast<uint32_t>(begun.target);
  operation.op = checked(begun.op, trace::RmaOp::fetch_and_accumulate);
  operation.bytes_sent = begun.sent;
  operation.bytes_received = begun.received;
  WindowState& state = windows_[window];
  if (begun.request != 0) {
    operation.id = RmaOpId{begun.request};
    state.special.push_back({operation.target, operation.id, false});
  } else {
    const auto [open, fresh] = state.open.try_emplace(operation.target, RmaOpId{kOwnIds | ids_});
    if (fresh) ++ids_;
    operation.id = open->second;
  }
  sink().rma_operation(time, operation);
}

void OneSidedRecords::operation_done(const raw::rma_op_done& done, Time time, WindowId window) {
  for (UnderWay& one : windows_[window].special) {
    if (one.id != RmaOpId{done.request}) continue;
    one.done_here = true;
    sink().rma_complete(time, window, one.id, RmaCompletion::local);
    return;
  }
}

void OneSidedRecords::complete(Time time, WindowId window, std::optional<uint32_t> target,
                               bool remote) {
  WindowState& state = windows_[window];
  const auto wanted = [&](uint32_t of) { return !target || *target == of; };
  std::erase_if(state.open, [&](const auto& one) {
    if (!wanted(one.first)) return false;
    state.special.push_back({one.first, one.second, false});
    return true;
  });
  for (UnderWay& one : state.special) {
    if (!wanted(one.target)) continue;
    if (!one.done_here) sink().rma_complete(time, window, one.id, RmaCompletion::local);
    if (remote) sink().rma_complete(time, window, one.id, RmaCompletion::remote);
    one.done_here = true;
  }
  if (!remote) return;
  std::erase_if(state.special, [&](const UnderWay& one) { return wanted(one.target); });
}

void OneSidedRecords::fence(const raw::rma_fence& met, Time time, WindowId window) {
  trace::RmaCollective fence;
  fence.window = window;
  fence.assertions =
      static_cast<RmaAssertions>(static_cast<uint16_t>(met.assertions) & kAssertions);
  sink().rma_collective(time, fence);
  complete(time, window, std::nullopt, true);
}

void OneSidedRecords::epoch(const raw::rma_epoch& epoch, Time time, WindowId window) {
  trace::RmaGroupSync sync;
  sync.epoch = checked(epoch_of(epoch), RmaEpoch::other);
  sync.window = window;
  sync.assertions = assertions_of(epoch.what);
  WindowState& state = windows_[window];
  GroupId& group = sync.epoch == RmaEpoch::start || sync.epoch == RmaEpoch::complete
                       ? state.accessed
                       : state.exposed;
  if (sync.epoch == RmaEpoch::start || sync.epoch == RmaEpoch::post) {
    const auto known = state_.process.objects.groups.find({epoch.window, ranks_.ranks()});
    group = known == state_.process.objects.groups.end() ? GroupId::none() : known->second;
  }
  sync.group = group;
  if (sync.epoch == RmaEpoch::complete) {
    complete(time, window, std::nullopt, false);
    state.special.clear();  // when they are complete at the target, only that knows
  }
  sink().rma_group_sync(time, sync);
}

void OneSidedRecords::lock(const raw::rma_lock& told, Time time, WindowId window) {
  trace::RmaLock lock;
  lock.window = window;
  lock.target = target_of(told.target);
  const trace::RawRmaLock kind = lock_of(told);
  if (kind == trace::RawRmaLock::release) {
    lock.step = RmaLockStep::released;
    complete(time, window, lock.target, true);
  } else {
    lock.exclusive = kind == trace::RawRmaLock::exclusive;
    lock.assertions = assertions_of(told.what);
  }
  sink().rma_lock(time, lock);
}

void OneSidedRecords::sync(const raw::rma_sync& told, Time time, WindowId window) {
  trace::RmaSync sync;
  sync.kind = checked(told.kind, RmaSyncKind::flush_local);
  sync.window = window;
  sync.target = target_of(told.target);
  sink().rma_sync(time, sync);
  if (sync.kind != RmaSyncKind::memory) {
    complete(time, window, sync.target, sync.kind == RmaSyncKind::flush);
  }
}

}  // namespace culprit::assemble
