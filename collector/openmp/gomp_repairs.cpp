// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A downward loop is given to libomp as its mirror image: i becomes ~i, which reverses the order of
// unsigned numbers and keeps their distances. The results are mirrored again. A thread remembers by
// the level of nesting whether its loop is such an image, since the functions that fetch the next
// chunk do not get the direction; within a team, loops do not nest. A taskloop downwards, or with a
// strict grain size, is cut into tasks here, as libgomp cuts it: libomp gives its tasks too much,
// or does not know strictness. Calls that need no repair end in a jump, so that the program stays
// the caller.
#include "collector/openmp/gomp_repairs.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

namespace culprit::collector::openmp {

namespace {

using Number = unsigned long long;  // libgomp's type

/// The kinds in GOMP_loop_ull_<kind>_start and _next. The last ones take their schedule from the
/// environment, and so no chunk size.
constexpr std::array kKinds = {"static",
                               "dynamic",
                               "guided",
                               "nonmonotonic_dynamic",
                               "nonmonotonic_guided",
                               "ordered_static",
                               "ordered_dynamic",
                               "ordered_guided",
                               "runtime",
                               "maybe_nonmonotonic_runtime",
                               "nonmonotonic_runtime",
                               "ordered_runtime"};
constexpr size_t kWithChunk = 8;

/// Bits in the flags of a taskloop; the lowest are those of each task (untied, final, mergeable).
constexpr unsigned kOfTasks = 7, kUpwards = 1U << 8, kGrainSize = 1U << 9, kIf = 1U << 10,
                   kNoGroup = 1U << 11, kReductions = 1U << 12, kStrict = 1U << 14;

std::array<std::atomic<void*>, kKinds.size()> g_start, g_next;
std::atomic<void*> g_taskloop, g_taskloop_ull;

/// Functions of libomp that the repairs need.
std::atomic<void*> g_level, g_threads, g_task, g_group_start, g_group_end, g_group_reductions;
struct Needed {
  const char* name;
  std::atomic<void*>* place;
};
constexpr Needed kNeeded[] = {{"omp_get_level", &g_level},
                              {"omp_get_num_threads", &g_threads},
                              {"GOMP_task", &g_task},
                              {"GOMP_taskgroup_start", &g_group_start},
                              {"GOMP_taskgroup_end", &g_group_end},
                              {"GOMP_taskgroup_reduction_register", &g_group_reductions}};

/// One bit for each level of nesting: whether its loop is mirrored.
[[gnu::tls_model("initial-exec")]] thread_local uint64_t t_mirrored = 0;

template <class F>
F* function_at(const std::atomic<void*>& place) {
  return reinterpret_cast<F*>(place.load(std::memory_order_relaxed));
}

uint64_t this_level() {
  const auto level = function_at<int()>(g_level);
  return uint64_t{1} << (level != nullptr ? level() & 63 : 0);
}

void begin_loop(bool upwards) {
  if (!upwards)
    t_mirrored |= this_level();
  else if (t_mirrored != 0)
    t_mirrored &= ~this_level();
}

bool mirror_back(bool any, Number* from, Number* to) {
  if (any) {
    *from = ~*from;
    *to = ~*to;
  }
  return any;
}

template <size_t kind>
bool start_with_chunk(bool up, Number begin, Number end, Number step, Number chunk, Number* from,
                      Number* to) {
  const auto start =
      function_at<bool(bool, Number, Number, Number, Number, Number*, Number*)>(g_start[kind]);
  begin_loop(up);
  if (up) return start(up, begin, end, step, chunk, from, to);
  return mirror_back(start(true, ~begin, ~end, -step, chunk, from, to), from, to);
}

template <size_t kind>
bool start(bool up, Number begin, Number end, Number step, Number* from, Number* to) {
  const auto start =
      function_at<bool(bool, Number, Number, Number, Number*, Number*)>(g_start[kind]);
  begin_loop(up);
  if (up) return start(up, begin, end, step, from, to);
  return mirror_back(start(true, ~begin, ~end, -step, from, to), from, to);
}

template <size_t kind>
bool next(Number* from, Number* to) {
  const auto next = function_at<bool(Number*, Number*)>(g_next[kind]);
  if (t_mirrored == 0 || (t_mirrored & this_level()) == 0) return next(from, to);
  return mirror_back(next(from, to), from, to);
}

using TaskBody = void(void*);
using TaskCopy = void(void*, void*);

/// libgomp's arguments of a taskloop, without its bounds. The body finds the bounds of its task in
/// the first two numbers of its data.
struct TaskLoop {
  TaskBody* body;
  void* data;
  TaskCopy* copy;
  long size, alignment;
  unsigned flags;
  unsigned long wanted;  ///< tasks, or iterations in each: see kGrainSize
  int priority;
};

uint64_t tasks_for(const TaskLoop& loop, uint64_t iterations) {
  const auto threads = function_at<int()>(g_threads);
  uint64_t tasks = threads != nullptr ? static_cast<uint64_t>(threads()) : 1;
  if (loop.wanted > 0) {
    tasks = (loop.flags & kGrainSize) != 0 ? iterations / loop.wanted : uint64_t{loop.wanted};
  }
  return std::clamp<uint64_t>(tasks, 1, iterations);
}

/// Numbers of iterations of the tasks, one after the other.
class Shares {
 public:
  Shares(const TaskLoop& loop, uint64_t iterations) : left_(iterations) {
    constexpr unsigned kJustSo = kGrainSize | kStrict;
    const bool just_so = loop.wanted > 0 && (loop.flags & kJustSo) == kJustSo;
    const uint64_t tasks = tasks_for(loop, iterations);
    share_ = just_so ? uint64_t{loop.wanted} : iterations / tasks;
    larger_ = just_so ? 0 : iterations % tasks;
  }
  /// Iterations of the next task; 0 after the last.
  uint64_t next() {
    uint64_t share = share_;
    if (larger_ > 0) {
      ++share;
      --larger_;
    }
    share = std::min(share, left_);
    left_ -= share;
    return share;
  }

 private:
  uint64_t left_, share_, larger_;
};

/// Bounds for the task that this thread is making. Data that is copied by a function (C++ objects)
/// cannot get them before: libomp calls that function while it makes the task.
struct Bounded {
  TaskCopy* copy;
  uint64_t bounds[2];
};
[[gnu::tls_model("initial-exec")]] thread_local Bounded t_bounded;

void copy_with_bounds(void* to, void* from) {
  const Bounded bounded = t_bounded;
  bounded.copy(to, from);
  memcpy(to, bounded.bounds, sizeof bounded.bounds);
}

/// The description of a taskloop's reductions, which lies behind its bounds.
uintptr_t* reductions_in(const void* data) {
  uintptr_t* reductions;
  memcpy(&reductions, static_cast<const uint64_t*>(data) + 2, sizeof reductions);
  return reductions;
}

/// For a taskloop without iterations: marks its reductions as not begun, where the runtime looks.
void tell_none(const void* data, unsigned flags) {
  if ((flags & (kNoGroup | kReductions)) == kReductions) reductions_in(data)[2] = 0;
}

/// Runs a taskloop that has iterations, task by task.
template <class T>
void make_tasks(const TaskLoop& loop, bool up, T begin, T end, T step) {
  const auto task = function_at<void(TaskBody*, void*, TaskCopy*, long, long, bool, unsigned,
                                     void**, int, void*)>(g_task);
  const bool grouped = (loop.flags & kNoGroup) == 0;
  if (grouped) function_at<void()>(g_group_start)();
  if (grouped && (loop.flags & kReductions) != 0) {
    function_at<void(uintptr_t*)>(g_group_reductions)(reductions_in(loop.data));
  }
  const auto stride = static_cast<uint64_t>(step);  // 2^64 minus the downward distance
  auto from = static_cast<uint64_t>(begin);
  const uint64_t distance =
      up ? static_cast<uint64_t>(end) - from : from - static_cast<uint64_t>(end);
  Shares shares(loop, (distance - 1) / (up ? stride : -stride) + 1);
  while (const uint64_t share = shares.next()) {
    const uint64_t bounds[] = {from, from + share * stride};
    from = bounds[1];
    if (loop.copy != nullptr) {
      t_bounded = {loop.copy, {bounds[0], bounds[1]}};
    } else {
      memcpy(loop.data, bounds, sizeof bounds);
    }
    task(loop.body, loop.data, loop.copy != nullptr ? copy_with_bounds : nullptr, loop.size,
         loop.alignment, (loop.flags & kIf) != 0, loop.flags & kOfTasks, nullptr, loop.priority,
         nullptr);
  }
  if (grouped) function_at<void()>(g_group_end)();
}

template <class T>
void taskloop(TaskBody* body, void* data, TaskCopy* copy, long size, long alignment, unsigned flags,
              unsigned long wanted, int priority, T begin, T end, T step) {
  const bool up = std::is_signed_v<T> ? step > 0 : (flags & kUpwards) != 0;
  if (up ? begin >= end : begin <= end) return tell_none(data, flags);
  if (!up || (flags & kStrict) != 0) {
    return make_tasks({body, data, copy, size, alignment, flags, wanted, priority}, up, begin, end,
                      step);
  }
  const auto& target = std::is_signed_v<T> ? g_taskloop : g_taskloop_ull;
  function_at<void(TaskBody*, void*, TaskCopy*, long, long, unsigned, unsigned long, int, T, T, T)>(
      target)(body, data, copy, size, alignment, flags, wanted, priority, begin, end, step);
}

struct StandIn {
  void* start;
  void* next;
};

template <size_t kind>
StandIn stand_in() {
  if constexpr (kind < kWithChunk) {
    return {reinterpret_cast<void*>(start_with_chunk<kind>), reinterpret_cast<void*>(next<kind>)};
  } else {
    return {reinterpret_cast<void*>(start<kind>), reinterpret_cast<void*>(next<kind>)};
  }
}

template <size_t... kinds>
StandIn stand_in_for(size_t kind, std::index_sequence<kinds...>) {
  StandIn found = {};
  (void)((kinds == kind ? (found = stand_in<kinds>(), true) : false) || ...);
  return found;
}

/// "GOMP_loop_ull_" + kind + ending?
bool is_loop(const char* name, const char* kind, const char* ending) {
  constexpr char kPrefix[] = "GOMP_loop_ull_";
  if (strncmp(name, kPrefix, strlen(kPrefix)) != 0) return false;
  name += strlen(kPrefix);
  return strncmp(name, kind, strlen(kind)) == 0 && strcmp(name + strlen(kind), ending) == 0;
}

void find_needed(void* libomp) {
  for (const Needed& needed : kNeeded) {
    if (needed.place->load(std::memory_order_relaxed) != nullptr) continue;
    needed.place->store(dlsym(libomp, needed.name), std::memory_order_relaxed);
  }
}

}  // namespace

void* repaired(const char* name, void* function, void* libomp) {
  const bool is_taskloop = strcmp(name, "GOMP_taskloop") == 0;
  if (is_taskloop || strcmp(name, "GOMP_taskloop_ull") == 0) {
    find_needed(libomp);
    (is_taskloop ? g_taskloop : g_taskloop_ull).store(function, std::memory_order_relaxed);
    return is_taskloop ? reinterpret_cast<void*>(taskloop<long>)
                       : reinterpret_cast<void*>(taskloop<Number>);
  }
  for (size_t kind = 0; kind < kKinds.size(); ++kind) {
    const bool starts = is_loop(name, kKinds[kind], "_start");
    if (!starts && !is_loop(name, kKinds[kind], "_next")) continue;
    find_needed(libomp);
    (starts ? g_start : g_next)[kind].store(function, std::memory_order_relaxed);
    const StandIn both = stand_in_for(kind, std::make_index_sequence<kKinds.size()>());
    return starts ? both.start : both.next;
  }
  return function;
}

}  // namespace culprit::collector::openmp
