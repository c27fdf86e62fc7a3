// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The part of TimelineBuilder that keeps one-sided communication.
#include <algorithm>
#include <bit>

#include "replay/model/rma_facts.h"
#include "replay/read/timeline_builder.h"

namespace culprit::replay {

bool rma_fact(const trace::RmaGroupSync& sync, RmaFact& fact) {
  using trace::RmaEpoch;
  fact.window = sync.window;
  fact.group = sync.group;
  fact.no_check = has(sync.assertions, trace::RmaAssertions::no_check);
  fact.act = sync.epoch == RmaEpoch::start      ? RmaAct::start
             : sync.epoch == RmaEpoch::complete ? RmaAct::complete
             : sync.epoch == RmaEpoch::post     ? RmaAct::post
                                                : RmaAct::wait;
  return sync.epoch != RmaEpoch::other;
}

bool rma_fact(const trace::RmaLock& lock, RmaFact& fact) {
  fact.window = lock.window;
  fact.target = lock.target.value_or(RmaFact::kAllTargets);
  fact.exclusive = lock.exclusive;
  fact.no_check = has(lock.assertions, trace::RmaAssertions::no_check);
  fact.act = lock.step == trace::RmaLockStep::released ? RmaAct::unlock : RmaAct::lock;
  // A request is recorded in the call that acquires; a mere try has not waited.
  return lock.step == trace::RmaLockStep::request || lock.step == trace::RmaLockStep::released;
}

bool rma_fact(const trace::RmaSync& sync, RmaFact& fact) {
  fact.window = sync.window;
  fact.target = sync.target.value_or(RmaFact::kAllTargets);
  fact.act = RmaAct::flush;
  return sync.kind == trace::RmaSyncKind::flush || sync.kind == trace::RmaSyncKind::flush_local;
}

bool rma_fact(const trace::RmaOperation& operation, RmaFact& fact) {
  fact.window = operation.window;
  fact.target = operation.target;
  fact.act = RmaAct::operation;
  fact.width = static_cast<uint8_t>(
      std::bit_width(std::max(operation.bytes_sent, operation.bytes_received)));
  return true;
}

void TimelineBuilder::rma_collective(Time time, const trace::RmaCollective& what) {
  using Op = trace::CollectiveOp;
  const CommId comm = windows_[what.window.index()].comm;
  if (!comm.valid() || comm.index() >= first_window_comm_) return touch(time);
  if (what.op == Op::create_handle || what.op == Op::destroy_handle) {
    return mpi_collective(time, {what.op, comm, {}, 0, 0});
  }
  if (what.op != Op::barrier) return touch(time);
  mpi_collective(time, {what.op, CommId(first_window_comm_ + what.window.index()), {}, 0, 0});
}

template <class Event>
void TimelineBuilder::rma_act(Time time, const Event& event) {
  RmaFact fact;
  if (!rma_fact(event, fact)) return touch(time);
  fact.call = current_call(time);
  if (fact.act == RmaAct::wait) probes_.ended_exposure(line_.rma.size(), top_traits().asking);
  line_.rma.push_back(fact);
}

void TimelineBuilder::rma_group_sync(Time time, const trace::RmaGroupSync& sync) {
  rma_act(time, sync);
}

void TimelineBuilder::rma_lock(Time time, const trace::RmaLock& lock) {
  rma_act(time, lock);
}

void TimelineBuilder::rma_sync(Time time, const trace::RmaSync& sync) {
  rma_act(time, sync);
}

void TimelineBuilder::rma_operation(Time time, const trace::RmaOperation& operation) {
  rma_act(time, operation);
}

}  // namespace culprit::replay
