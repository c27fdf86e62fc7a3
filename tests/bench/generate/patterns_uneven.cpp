// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Programs in which one does by the thousand what another does once. Quadratic where the visits of
// one are gone through for each of another, or for each of its own.
#include <algorithm>

#include "tests/bench/generate/pattern.h"

namespace culprit::bench {

namespace {

constexpr uint32_t kThousand = 1000;

/// All ranks but the first work and send to it, each iteration. It receives, and works only once in
/// a thousand. There is no operation that all pass.
class UnevenVisits final : public Pattern {
 public:
  explicit UnevenVisits(const Shape& shape) : shape_(shape), period_(200 + 2 * shape.ranks) {}
  void play(uint32_t rank, uint32_t, Pen& pen) const override {
    pen.enter(0, kMain);
    for (uint32_t i = 0; i < shape_.iterations; ++i) {
      if (rank == 0) {
        receive(i, pen);
      } else {
        pen.visit(period_ * i, sent(rank, i), kCompute);
        pen.send(sent(rank, i), sent(rank, i) + 10, 0);
      }
    }
    pen.leave(period_ * shape_.iterations, kMain);
  }

 private:
  int64_t sent(uint32_t rank, uint32_t iteration) const {
    return period_ * iteration + 50 +
           static_cast<int64_t>(scatter(rank, iteration, shape_.seed) & 63);
  }
  void receive(uint32_t iteration, Pen& pen) const {
    int64_t now = period_ * iteration;
    if (iteration % kThousand == 0) pen.visit(now, now + 20, kCompute), now += 20;
    for (uint32_t r = 1; r < shape_.ranks; ++r) {
      const int64_t end = std::max(now + 1, sent(r, iteration) + 10);
      pen.recv(now, end, r);
      now = end;
    }
  }
  Shape shape_;
  int64_t period_;
};

/// One parallel region in which the master makes a task each iteration, faster than the others can
/// run them. It runs one in a thousand itself. Then all ranks meet in a barrier.
class UnevenTasks final : public Pattern {
 public:
  explicit UnevenTasks(const Shape& shape) : shape_(shape) {
    for (uint32_t t = 0; t < shape.threads; ++t) {
      for_each_task(t, [&](uint32_t, int64_t, int64_t end) { end_ = std::max(end_, end + 20); });
    }
  }
  void play(uint32_t, uint32_t thread, Pen& pen) const override {
    constexpr trace::RegionInstance kInstance{1};
    if (thread == 0) pen.enter(0, kMain);
    if (thread == 0) pen.sink().thread_fork(Pen::at(5), shape_.threads, kInstance);
    pen.sink().thread_team_begin(Pen::at(10), kInstance);
    pen.enter(10, kParallel);
    if (thread == 0) create(pen);
    pen.enter(thread == 0 ? created(shape_.iterations) : 10, kImplicit);
    for_each_task(thread, [&](uint32_t task, int64_t begin, int64_t end) {
      pen.sink().task_switch(Pen::at(begin), id(task));
      pen.visit(begin, end, kTask);
      pen.sink().task_complete(Pen::at(end), id(task));
      pen.sink().task_switch(Pen::at(end), {});
    });
    pen.leave(end_, kImplicit);
    pen.leave(end_, kParallel);
    pen.sink().thread_team_end(Pen::at(end_));
    if (thread != 0) return;
    pen.sink().thread_join(Pen::at(end_));
    pen.collective(end_ + 5, end_ + 40, kBarrier, trace::CollectiveOp::barrier);
    pen.leave(end_ + 40, kMain);
  }

 private:
  static trace::TaskId id(uint32_t task) { return {0, task + 1}; }
  static int64_t created(uint32_t task) { return 20 + 30 * int64_t{task}; }
  uint32_t thread_of(uint32_t task) const {
    if (shape_.threads == 1 || task % kThousand == kThousand / 2) return 0;
    return 1 + task % (shape_.threads - 1);
  }

  void create(Pen& pen) const {
    for (uint32_t task = 0; task < shape_.iterations; ++task) {
      pen.enter(created(task) - 10, kCreateTask);
      pen.sink().task_create(Pen::at(created(task)), id(task));
      pen.leave(created(task), kCreateTask);
    }
  }
  /// Calls run(task, begin, end), in order of time, for those of a thread.
  template <class Run>
  void for_each_task(uint32_t thread, const Run& run) const {
    int64_t free = thread == 0 ? created(shape_.iterations) : 10;
    for (uint32_t task = 0; task < shape_.iterations; ++task) {
      if (thread_of(task) != thread) continue;
      const int64_t begin = std::max(free, created(task));
      free = begin + 20 + static_cast<int64_t>(scatter(task, shape_.seed) & 63);
      run(task, begin, free);
    }
  }
  Shape shape_;
  int64_t end_ = 0;
};

}  // namespace

std::span<const PatternKind> uneven_patterns() {
  static constexpr PatternKind kAll[] = {
      kind_of<UnevenVisits>("uneven_visits", "one works a thousand times as often as another",
                            true),
      kind_of<UnevenTasks>("uneven_tasks", "one runs a thousand times as many tasks as another",
                           true, true),
  };
  return kAll;
}

}  // namespace culprit::bench
