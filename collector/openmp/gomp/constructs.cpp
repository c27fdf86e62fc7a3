// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Barriers, `single`, `scope`, cancellation, and the iterations of doacross loops. gcc ends
// `single` and `scope` by a barrier, or by no call at all: their ends are not recorded. A thread
// that comes to `single copyprivate` learns only from libgomp whether it executes the block or
// waits for the thread that does. So every thread records a wait, and the one that executes the
// block takes it back.
#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <utility>

#include "collector/openmp/gomp/events.h"
#include "collector/openmp/gomp/stand_in.h"
#include "trace/raw/raw.h"

namespace culprit::collector::openmp::gomp {

namespace {

constexpr auto kExplicit = ompt_sync_region_barrier_explicit;
constexpr auto kImplicit = ompt_sync_region_barrier_implicit_workshare;

/// A barrier that can be cancelled returns whether it was.
template <Name name, class Result>
Result barrier() {
  const WaitHere wait(kExplicit, __builtin_return_address(0));
  return real<name, Result()>()();
}

/// Ends worksharing with a reduction in which tasks take part; the end is a barrier.
template <Name name>
void end_task_reduction(bool cancelled) {
  const WaitHere wait(kImplicit, __builtin_return_address(0));
  real<name, void(bool)>()(cancelled);
}

void tell_single(bool executes, const void* code) {
  if (executes) {
    g_events.work(ompt_work_single_executor, ompt_scope_begin, nullptr, nullptr, 1, code);
  } else {
    g_events.work(ompt_work_single_other, ompt_scope_begin, nullptr, nullptr, 1, code);
    g_events.work(ompt_work_single_other, ompt_scope_end, nullptr, nullptr, 1, code);
  }
}

template <Name name>
bool single() {
  const bool executes = real<name, bool()>()();
  tell_single(executes, __builtin_return_address(0));
  return executes;
}

/// Returns the data of the thread that executes the block, or nullptr to that thread.
template <Name name>
void* single_copy() {
  const void* const code = __builtin_return_address(0);
  ompt_data_t here = {1};
  begin_wait(kImplicit, &here, code);
  void* const given = real<name, void*()>()();
  const bool executes = given == nullptr;
  const unsigned ended = executes ? kImplicit | trace::kRawTakenBack : kImplicit;
  end_wait(static_cast<ompt_sync_region_t>(ended), &here, code);
  if (executes) tell_single(true, code);
  return given;
}

/// The thread that has executed the block passes its data on, and waits for the others to come.
template <Name name>
void end_single_copy(void* given) {
  const void* const code = __builtin_return_address(0);
  g_events.work(ompt_work_single_executor, ompt_scope_end, nullptr, nullptr, 1, code);
  const WaitHere wait(kImplicit, code);
  real<name, void(void*)>()(given);
}

template <Name name>
void scope(uintptr_t* reductions) {
  real<name, void(uintptr_t*)>()(reductions);
  const void* const code = __builtin_return_address(0);
  g_events.work(ompt_work_scope, ompt_scope_begin, nullptr, nullptr, 1, code);
}

/// libgomp's numbers of the constructs that can be cancelled.
int cancelled_construct(int which) {
  constexpr int kParallel = 1, kLoop = 2, kSections = 4;
  switch (which) {
    case kParallel:
      return ompt_cancel_parallel;
    case kLoop:
      return ompt_cancel_loop;
    case kSections:
      return ompt_cancel_sections;
    default:
      return ompt_cancel_taskgroup;
  }
}

template <Name name>
bool cancel(int which, bool wanted) {
  const bool cancelled = real<name, bool(int, bool)>()(which, wanted);
  const int how = wanted ? ompt_cancel_activated : ompt_cancel_detected;
  if (cancelled) {
    g_events.cancel(nullptr, cancelled_construct(which) | how, __builtin_return_address(0));
  }
  return cancelled;
}

template <Name name>
bool cancellation_point(int which) {
  const bool cancelled = real<name, bool(int)>()(which);
  const int what = cancelled_construct(which) | ompt_cancel_detected;
  if (cancelled) g_events.cancel(nullptr, what, __builtin_return_address(0));
  return cancelled;
}

// --- Doacross loops ---

/// An iteration has one number for each of the nested loops. The arguments do not say how many, so
/// the largest possible number of them is passed on; the surplus ones lie on the caller's stack,
/// too.
constexpr size_t kUsual = 16, kMost = 128;

template <class Number>
void tell_iteration(const Number* numbers, ompt_dependence_type_t type) {
  ompt_dependence_t told[kUsual];
  const unsigned count = std::min<unsigned>(t_thread.dimensions, kUsual);
  for (unsigned i = 0; i < count; ++i) {
    told[i].variable.value = static_cast<uint64_t>(numbers[i]);
    told[i].dependence_type = type;
  }
  ompt_data_t implicit = {0};
  if (count > 0) g_events.dependences(&implicit, told, static_cast<int>(count));
}

template <Name name, class Number>
void post(Number* numbers) {
  tell_iteration(numbers, ompt_dependence_type_source);
  real<name, void(Number*)>()(numbers);
}

template <Name name, class Number, size_t... all>
void wait_for(const Number* numbers, std::index_sequence<all...>) {
  real<name, void(Number, ...)>()(numbers[0], numbers[1 + all]...);
}

template <size_t most, class Number>
void take_numbers(Number* numbers, va_list rest) {
  for (size_t i = 1; i < most; ++i) numbers[i] = va_arg(rest, Number);
}

template <Name name, class Number>
void wait(Number first, ...) {
  Number numbers[kMost];
  numbers[0] = first;
  va_list rest;
  va_start(rest, first);
  if (t_thread.dimensions <= kUsual) {
    take_numbers<kUsual>(numbers, rest);
    wait_for<name>(numbers, std::make_index_sequence<kUsual - 1>());
  } else {
    take_numbers<kMost>(numbers, rest);
    wait_for<name>(numbers, std::make_index_sequence<kMost - 1>());
  }
  va_end(rest);
  tell_iteration(numbers, ompt_dependence_type_sink);
}

}  // namespace

void offer_constructs(Match& match) {
  using Ull = unsigned long long;
  CULPRIT_OFFER("GOMP_barrier", barrier, void);
  CULPRIT_OFFER("GOMP_barrier_cancel", barrier, bool);
  CULPRIT_OFFER("GOMP_workshare_task_reduction_unregister", end_task_reduction);
  CULPRIT_OFFER("GOMP_single_start", single);
  CULPRIT_OFFER("GOMP_single_copy_start", single_copy);
  CULPRIT_OFFER("GOMP_single_copy_end", end_single_copy);
  CULPRIT_OFFER("GOMP_scope_start", scope);
  CULPRIT_OFFER("GOMP_cancel", cancel);
  CULPRIT_OFFER("GOMP_cancellation_point", cancellation_point);
  CULPRIT_OFFER("GOMP_doacross_post", post, long);
  CULPRIT_OFFER("GOMP_doacross_ull_post", post, Ull);
  CULPRIT_OFFER("GOMP_doacross_wait", wait, long);
  CULPRIT_OFFER("GOMP_doacross_ull_wait", wait, Ull);
}

}  // namespace culprit::collector::openmp::gomp
