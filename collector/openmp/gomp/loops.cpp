// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Loops and sections that libgomp distributes. Compiled code distributes loops of static schedule
// by itself and calls nothing but the barrier at their end, so those do not show as constructs. A
// thread's part begins with its first call and ends with its call that ends the loop; the barrier
// that follows is recorded as a barrier.
#include "collector/openmp/gomp/loop_share.h"

#include "collector/openmp/gomp/events.h"
#include "collector/openmp/gomp/stand_in.h"

namespace culprit::collector::openmp::gomp {

namespace {

using Ull = unsigned long long;  // libgomp's type for loops whose numbers do not fit into `long`

void note_chunk(uint64_t count) {
  ompt_dispatch_chunk_t chunk = {0, count};
  ompt_data_t instance = {0};
  instance.ptr = &chunk;
  g_events.dispatch(nullptr, nullptr, ompt_dispatch_ws_loop_chunk, instance);
}

/// Records the pieces that were dealt out: `begin` and `end` are the runtime's answer. Unsigned
/// loops go up and down by the same numbers, read as signed ones.
template <class Number>
void note_answer(bool dealt, const Number* begin, const Number* end) {
  if (!dealt || begin == nullptr || end == nullptr || t_thread.step == 0) return;
  note_chunk(iterations(static_cast<long>(*begin), static_cast<long>(*end), t_thread.step));
}

/// The place of the runtime's answer: the first two pointers among a start's further arguments.
template <class Number>
struct Answer {
  void see(Number* place) {
    if (begin == nullptr) {
      begin = place;
    } else if (end == nullptr) {
      end = place;
    }
  }
  template <class Other>
  void see(Other) {}
  Number* begin = nullptr;
  Number* end = nullptr;
};

template <class Number, class... Rest>
void note_start(bool dealt, Rest... rest) {
  Answer<Number> answer;
  (answer.see(rest), ...);
  note_answer(dealt, answer.begin, answer.end);
}

template <Name name, unsigned kind, class... Rest>
bool loop(long begin, long end, long step, Rest... rest) {
  begin_work({kind, step, iterations(begin, end, step)}, __builtin_return_address(0));
  const bool dealt = real<name, bool(long, long, long, Rest...)>()(begin, end, step, rest...);
  note_start<long>(dealt, rest...);
  return dealt;
}

template <Name name, unsigned kind, class... Rest>
bool loop_ull(bool up, Ull begin, Ull end, Ull step, Rest... rest) {
  const Ull distance = up ? end - begin : begin - end;
  const Ull stride = up ? step : 0 - step;
  const bool empty = stride == 0 || (up ? begin >= end : begin <= end);
  begin_work({kind, static_cast<long>(step), empty ? 0 : (distance - 1) / stride + 1},
             __builtin_return_address(0));
  const bool dealt =
      real<name, bool(bool, Ull, Ull, Ull, Rest...)>()(up, begin, end, step, rest...);
  note_start<Ull>(dealt, rest...);
  return dealt;
}

/// Loops whose iterations wait for each other: `counts` has the iterations of each of `dimensions`
/// loops, of which the outermost is distributed.
template <Name name, unsigned kind, class Number, class... Rest>
bool doacross(unsigned dimensions, Number* counts, Rest... rest) {
  begin_work({kind, 1, static_cast<uint64_t>(counts[0])}, __builtin_return_address(0));
  t_thread.dimensions = dimensions;
  const bool dealt = real<name, bool(unsigned, Number*, Rest...)>()(dimensions, counts, rest...);
  note_start<Number>(dealt, rest...);
  return dealt;
}

template <Name name, class Number>
bool next(Number* begin, Number* end) {
  const bool dealt = real<name, bool(Number*, Number*)>()(begin, end);
  note_answer(dealt, begin, end);
  return dealt;
}

void note_section(unsigned section) {
  if (section == 0) return;
  g_events.dispatch(nullptr, nullptr, ompt_dispatch_section, {0});
}

template <Name name, class... Rest>
unsigned sections(unsigned count, Rest... rest) {
  begin_work({ompt_work_sections, 1, count}, __builtin_return_address(0));
  const unsigned section = real<name, unsigned(unsigned, Rest...)>()(count, rest...);
  note_section(section);
  return section;
}

template <Name name>
unsigned next_section() {
  const unsigned section = real<name, unsigned()>()();
  note_section(section);
  return section;
}

void end_work() {
  t_thread.dimensions = 0;
  const auto kind = static_cast<ompt_work_t>(t_thread.work);
  g_events.work(kind, ompt_scope_end, nullptr, nullptr, 0, nullptr);
}

template <Name name>
void end_nowait() {
  end_work();
  real<name, void()>()();
}

constexpr auto kBarrier = ompt_sync_region_barrier_implicit_workshare;

/// The end by a barrier; one that can be cancelled returns whether it was.
template <Name name, class Result>
Result end() {
  end_work();
  const WaitHere wait(kBarrier, __builtin_return_address(0));
  return real<name, Result()>()();
}

/// Schedules as they are recorded; kOther: the environment decides.
constexpr unsigned kStatic = ompt_work_loop_static, kDynamic = ompt_work_loop_dynamic,
                   kGuided = ompt_work_loop_guided, kOther = ompt_work_loop_other;

// A schedule has a start and a next for each type of numbers. The arguments of a start after the
// numbers of the loop: the schedule where one function has them all, the chunk's size, the place of
// the answer, and the memory that the team shares.
#define CULPRIT_NEXT(schedule)                              \
  CULPRIT_OFFER("GOMP_loop_" schedule "_next", next, long); \
  CULPRIT_OFFER("GOMP_loop_ull_" schedule "_next", next, Ull)
#define CULPRIT_CHUNKED(schedule, kind)                                               \
  CULPRIT_OFFER("GOMP_loop_" schedule "_start", loop, kind, long, long*, long*);      \
  CULPRIT_OFFER("GOMP_loop_ull_" schedule "_start", loop_ull, kind, Ull, Ull*, Ull*); \
  CULPRIT_NEXT(schedule)
#define CULPRIT_OF_ENVIRONMENT(schedule)                                           \
  CULPRIT_OFFER("GOMP_loop_" schedule "_start", loop, kOther, long*, long*);       \
  CULPRIT_OFFER("GOMP_loop_ull_" schedule "_start", loop_ull, kOther, Ull*, Ull*); \
  CULPRIT_NEXT(schedule)
#define CULPRIT_WITH_MEMORY(start)                                                               \
  CULPRIT_OFFER("GOMP_loop_" start, loop, kOther, long, long, long*, long*, uintptr_t*, void**); \
  CULPRIT_OFFER("GOMP_loop_ull_" start, loop_ull, kOther, long, Ull, Ull*, Ull*, uintptr_t*, void**)
#define CULPRIT_DOACROSS(schedule, kind)                                                    \
  CULPRIT_OFFER("GOMP_loop_doacross_" schedule "_start", doacross, kind, long, long, long*, \
                long*);                                                                     \
  CULPRIT_OFFER("GOMP_loop_ull_doacross_" schedule "_start", doacross, kind, Ull, Ull, Ull*, Ull*)

void offer_schedules(Match& match) {
  CULPRIT_CHUNKED("static", kStatic);
  CULPRIT_CHUNKED("dynamic", kDynamic);
  CULPRIT_CHUNKED("guided", kGuided);
  CULPRIT_CHUNKED("nonmonotonic_dynamic", kDynamic);
  CULPRIT_CHUNKED("nonmonotonic_guided", kGuided);
  CULPRIT_CHUNKED("ordered_static", kStatic);
  CULPRIT_CHUNKED("ordered_dynamic", kDynamic);
  CULPRIT_CHUNKED("ordered_guided", kGuided);
  CULPRIT_OF_ENVIRONMENT("runtime");
  CULPRIT_OF_ENVIRONMENT("nonmonotonic_runtime");
  CULPRIT_OF_ENVIRONMENT("maybe_nonmonotonic_runtime");
  CULPRIT_OF_ENVIRONMENT("ordered_runtime");
  CULPRIT_WITH_MEMORY("start");
  CULPRIT_WITH_MEMORY("ordered_start");
}

void offer_doacross_loops(Match& match) {
  CULPRIT_DOACROSS("static", kStatic);
  CULPRIT_DOACROSS("dynamic", kDynamic);
  CULPRIT_DOACROSS("guided", kGuided);
  CULPRIT_OFFER("GOMP_loop_doacross_runtime_start", doacross, kOther, long, long*, long*);
  CULPRIT_OFFER("GOMP_loop_ull_doacross_runtime_start", doacross, kOther, Ull, Ull*, Ull*);
  CULPRIT_OFFER("GOMP_loop_doacross_start", doacross, kOther, long, long, long, long*, long*,
                uintptr_t*, void**);
  CULPRIT_OFFER("GOMP_loop_ull_doacross_start", doacross, kOther, Ull, long, Ull, Ull*, Ull*,
                uintptr_t*, void**);
}

#undef CULPRIT_NEXT
#undef CULPRIT_CHUNKED
#undef CULPRIT_OF_ENVIRONMENT
#undef CULPRIT_WITH_MEMORY
#undef CULPRIT_DOACROSS

}  // namespace

void begin_work(const SharedWork& work, const void* code) {
  t_thread.step = work.step;
  t_thread.work = work.kind;
  const auto kind = static_cast<ompt_work_t>(work.kind);
  g_events.work(kind, ompt_scope_begin, nullptr, nullptr, work.count, code);
}

void offer_loops(Match& match) {
  offer_schedules(match);
  offer_doacross_loops(match);
  CULPRIT_OFFER("GOMP_loop_end", end, void);
  CULPRIT_OFFER("GOMP_loop_end_cancel", end, bool);
  CULPRIT_OFFER("GOMP_loop_end_nowait", end_nowait);
  CULPRIT_OFFER("GOMP_sections_start", sections);
  CULPRIT_OFFER("GOMP_sections2_start", sections, uintptr_t*, void**);
  CULPRIT_OFFER("GOMP_sections_next", next_section);
  CULPRIT_OFFER("GOMP_sections_end", end, void);
  CULPRIT_OFFER("GOMP_sections_end_cancel", end, bool);
  CULPRIT_OFFER("GOMP_sections_end_nowait", end_nowait);
}

}  // namespace culprit::collector::openmp::gomp
