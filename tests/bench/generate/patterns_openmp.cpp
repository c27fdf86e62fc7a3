// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Threads within a rank: explicit tasks that one thread creates and all execute in the region's
// barrier, and a critical section that they compete for.
#include <algorithm>

#include "tests/bench/generate/pattern.h"

namespace culprit::bench {

namespace {

/// Each iteration is one parallel region in which the master creates tasks; each task works, enters
/// a critical section, and works again. Then all ranks meet in a barrier.
class Tasks final : public Pattern {
 public:
  explicit Tasks(const Shape& shape) : shape_(shape) {
    int64_t now = 0;
    for (uint32_t i = 0; i < shape.iterations; ++i) {
      begun_.push_back(now);
      int64_t last = 0;
      for (uint32_t r = 0; r < shape.ranks; ++r) last = std::max(last, plan(r, i).end);
      now = last + 40;
    }
    begun_.push_back(now);
  }

  void play(uint32_t rank, uint32_t thread, Pen& pen) const override {
    if (thread == 0) pen.enter(0, kMain);
    for (uint32_t i = 0; i < shape_.iterations; ++i) {
      const Plan plan = this->plan(rank, i);
      const trace::RegionInstance instance{i + 1};
      if (thread == 0) {
        pen.sink().thread_fork(Pen::at(begun_[i]), shape_.threads, instance);
      }
      pen.sink().thread_team_begin(Pen::at(begun_[i] + 10), instance);
      team_member(thread, i, plan, pen);
      pen.sink().thread_team_end(Pen::at(plan.end));
      if (thread != 0) continue;
      pen.sink().thread_join(Pen::at(plan.end));
      pen.collective(plan.end + 5, begun_[i + 1], kBarrier, trace::CollectiveOp::barrier);
    }
    if (thread == 0) pen.leave(begun_.back(), kMain);
  }

 private:
  static constexpr uint32_t kTasksPerThread = 3;
  static constexpr int64_t kCreation = 30;

  struct Task {
    uint32_t thread;
    int64_t begin, asked, acquired, released, end;
  };
  struct Plan {
    std::vector<Task> tasks;  ///< in order of creation
    int64_t end;              ///< of the region
  };

  uint32_t task_count() const { return kTasksPerThread * shape_.threads; }
  int64_t created(uint32_t iteration, uint32_t task) const {
    return begun_[iteration] + 10 + kCreation * (task + 1);
  }

  /// Tasks go, in their order, to the thread that is free first; the lock, too, goes by that order.
  Plan plan(uint32_t rank, uint32_t iteration) const {
    Plan plan;
    std::vector<int64_t> free(shape_.threads, begun_[iteration] + 10);
    free[0] = created(iteration, task_count() - 1);
    int64_t lock_free = 0;
    for (uint32_t k = 0; k < task_count(); ++k) {
      const auto first = std::min_element(free.begin(), free.end());
      const uint64_t dice = scatter(rank * 64ull + k, iteration, shape_.seed);
      Task task{};
      task.thread = static_cast<uint32_t>(first - free.begin());
      task.begin = std::max(*first, created(iteration, k));
      task.asked = task.begin + 100 + static_cast<int64_t>(dice & 511);
      task.acquired = std::max(task.asked, lock_free);
      task.released = lock_free = task.acquired + 20 + static_cast<int64_t>(dice >> 9 & 63);
      task.end = *first = task.released + 50 + static_cast<int64_t>(dice >> 15 & 255);
      plan.tasks.push_back(task);
    }
    plan.end = *std::max_element(free.begin(), free.end()) + 20;
    return plan;
  }

  void team_member(uint32_t thread, uint32_t iteration, const Plan& plan, Pen& pen) const {
    int64_t now = begun_[iteration] + 10;
    pen.enter(now, kParallel);
    for (uint32_t k = 0; thread == 0 && k < task_count(); ++k) {
      pen.enter(now, kCreateTask);
      now = created(iteration, k);
      pen.sink().task_create(Pen::at(now), id(iteration, k));
      pen.leave(now, kCreateTask);
    }
    pen.enter(now, kImplicit);
    for (uint32_t k = 0; k < plan.tasks.size(); ++k) {
      if (plan.tasks[k].thread == thread) run(plan.tasks[k], id(iteration, k), pen);
    }
    pen.leave(plan.end, kImplicit);
    pen.leave(plan.end, kParallel);
  }

  trace::TaskId id(uint32_t iteration, uint32_t task) const {
    return {0, iteration * task_count() + task + 1};
  }

  static void run(const Task& task, trace::TaskId id, Pen& pen) {
    constexpr uint64_t kLock = 7;
    pen.sink().task_switch(Pen::at(task.begin), id);
    pen.enter(task.begin, kTask);
    pen.enter(task.asked, kCritical);
    pen.sink().mutex_acquired(Pen::at(task.acquired), trace::MutexKind::critical, kLock);
    pen.enter(task.acquired, kCriticalBody);
    pen.sink().mutex_released(Pen::at(task.released), trace::MutexKind::critical, kLock);
    pen.leave(task.released, kCriticalBody);
    pen.leave(task.released, kCritical);
    pen.leave(task.end, kTask);
    pen.sink().task_complete(Pen::at(task.end), id);
    pen.sink().task_switch(Pen::at(task.end), {});
  }

  Shape shape_;
  std::vector<int64_t> begun_;  ///< by iteration
};

}  // namespace

std::span<const PatternKind> openmp_patterns() {
  static constexpr PatternKind kAll[] = {
      kind_of<Tasks>("tasks", "regions whose threads execute tasks and compete for a lock", false,
                     true),
  };
  return kAll;
}

}  // namespace culprit::bench
