// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "tests/unit/blame/random_program.h"

namespace culprit::testing_support {

using trace::EventSink;
using trace::RmaEpoch;
using trace::RmaLockStep;

namespace {

/// Of communicator 1.
const WindowId kWindow(0);

}  // namespace

void RandomProgram::one_sided() {
  const uint32_t origin = any_rank(), target = other_rank(origin);
  switch (pick(0, 2)) {
    case 0:
      return fence();
    case 1:
      return access(origin, target);
    default:
      lock(origin, target);
      if (const uint32_t second = other_rank(origin); second != target) lock(second, target);
  }
}

void RandomProgram::fence() {
  int64_t last = 0;
  for (uint32_t r = 0; r < ranks_; ++r) last = std::max(last, now(master(r)));
  for (uint32_t r = 0; r < ranks_; ++r) {
    const LocationId at = master(r);
    enter(at, "MPI_Win_fence");
    const int64_t end = last + last_for(2);
    put(at, end, [](EventSink& sink, Time t) {
      sink.rma_collective(t, {trace::CollectiveOp::barrier, kWindow, {}, 0, 0, {}});
    });
    leave(at, end, "MPI_Win_fence");
  }
}

void RandomProgram::put_data(uint32_t origin, uint32_t target) {
  const LocationId at = master(origin);
  enter(at, "MPI_Put");
  put(at, now(at), [=, id = trace::RmaOpId{++requests_}](EventSink& sink, Time t) {
    sink.rma_operation(t, {kWindow, target, trace::RmaOp::put, 8, 0, id});
  });
  leave(at, now(at) + last_for(2), "MPI_Put");
}

void RandomProgram::synchronise(uint32_t rank, uint32_t other, RmaEpoch epoch, const char* name,
                                int64_t end) {
  const LocationId at = master(rank);
  trace_.definitions_.groups.push_back({{process_of_[other]}});
  const GroupId group(trace_.definitions_.groups.size() - 1);
  enter(at, name);
  end = std::max(end, now(at)) + last_for(2);
  put(at, end,
      [=](EventSink& sink, Time t) { sink.rma_group_sync(t, {epoch, kWindow, group, {}}); });
  leave(at, end, name);
}

/// An epoch of access and one of exposure. The start or the completion waits for the post.
void RandomProgram::access(uint32_t origin, uint32_t target) {
  const int64_t posted = now(master(target));
  synchronise(target, origin, RmaEpoch::post, "MPI_Win_post", 0);
  const bool start_waits = toss();
  synchronise(origin, target, RmaEpoch::start, "MPI_Win_start", start_waits ? posted : 0);
  work(master(origin));
  put_data(origin, target);
  if (toss()) work(master(origin));  // late to complete
  work(master(target));
  const int64_t completed = now(master(origin));
  synchronise(origin, target, RmaEpoch::complete, "MPI_Win_complete", posted);
  synchronise(target, origin, RmaEpoch::wait, "MPI_Win_wait", completed);
}

/// Exclusive: after whoever had it before.
void RandomProgram::lock(uint32_t origin, uint32_t target) {
  const LocationId at = master(origin);
  const auto tell = [&](RmaLockStep step, int64_t time) {
    put(at, time, [=](EventSink& sink, Time t) {
      sink.rma_lock(t, {step, kWindow, target, true, target, {}});
    });
  };
  enter(at, "MPI_Win_lock");
  tell(RmaLockStep::request, now(at));
  const int64_t acquired = std::max(now(at), unlocked_[target]) + last_for(2);
  tell(RmaLockStep::acquired, acquired);
  leave(at, acquired, "MPI_Win_lock");
  put_data(origin, target);
  work(at);
  enter(at, "MPI_Win_unlock");
  unlocked_[target] = now(at) + last_for(2);
  tell(RmaLockStep::released, unlocked_[target]);
  leave(at, unlocked_[target], "MPI_Win_unlock");
}

}  // namespace culprit::testing_support
