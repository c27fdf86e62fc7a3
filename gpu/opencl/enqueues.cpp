// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One stand-in for each function of enqueues.def, all made from one template: it passes the call on
// with an event, the program's or its own, and keeps a reference of it until the operation is done.
#include <tuple>
#include <type_traits>
#include <utility>

#include "collector/process/recorder.h"
#include "gpu/opencl/layer.h"

namespace culprit::gpu::opencl {

namespace {

struct Enqueue {
  const char* name;
  DeviceOpKind kind;
  CopyDirection direction;
  int blocking;
  int bytes;
  int kernel;
};

#define ENQUEUE(function, kind, direction, blocking, bytes, kernel) \
  constexpr Enqueue k_##function{                                   \
      #function, DeviceOpKind::kind, CopyDirection::direction, blocking, bytes, kernel};
#include "gpu/opencl/enqueues.def"
#undef ENQUEUE

template <int kIndex, class Value, class Arguments>
Value argument_or(const Arguments& arguments, Value otherwise) {
  if constexpr (kIndex < 0) {
    return otherwise;
  } else {
    return static_cast<Value>(std::get<static_cast<size_t>(kIndex)>(arguments));
  }
}

/// Records the call once the operation is submitted.
void tell_call(const Given& given, std::span<const cl_event> after, bool blocking) {
  const Operation& operation = given.operation;
  call_handed_over(operation.kind, operation.queue, operation.number);
  if (!after.empty()) {
    const std::vector<OperationNumber> numbers = operations_of(after);
    call_ordered_after(numbers.data(), numbers.size());
  }
  if (blocking) call_waited_for(operation.number);
}

template <const Enqueue& kWhat, auto kNext, class Function>
struct StandIn;

template <const Enqueue& kWhat, auto kNext, class Result, class... Arguments>
struct StandIn<kWhat, kNext, Result(CL_API_CALL*)(cl_command_queue, Arguments...)> {
  static constexpr bool kMaps = std::is_pointer_v<Result>;
  static constexpr size_t kEvent = sizeof...(Arguments) - (kMaps ? 1 : 0);
  using All = std::tuple<cl_command_queue, Arguments...>;

  static bool succeeded(Result result, const All& all) {
    if constexpr (kMaps) {
      const cl_int* error = std::get<kEvent + 1>(all);
      return error != nullptr ? *error == CL_SUCCESS : result != nullptr;
    } else {
      return result == CL_SUCCESS;
    }
  }

  static Given describe(const All& all, const Queue& queue) {
    Given given;
    given.queue = std::get<0>(all);
    given.operation.queue = queue.number;
    given.operation.kind = kWhat.kind;
    given.operation.direction = kWhat.direction;
    given.operation.number = next_operation();
    given.operation.bytes = argument_or<kWhat.bytes, uint64_t>(all, 0);
    if constexpr (kWhat.kernel >= 0) {
      given.operation.name = name_of(std::get<static_cast<size_t>(kWhat.kernel)>(all));
    }
    return given;
  }

  static Result CL_API_CALL call(cl_command_queue handle, Arguments... arguments) {
    const auto next = next_layer->*kNext;
    const Queue queue = follows() ? find(handle) : Queue{};
    if (!queue.followed || !call_begins(kWhat.name)) return next(handle, arguments...);
    All all(handle, arguments...);
    Given given = describe(all, queue);
    given.asked_for = std::get<kEvent>(all) != nullptr;
    if (!given.asked_for) std::get<kEvent>(all) = &given.event;
    given.ticks_before = collector::now();
    const Result result = std::apply(next, all);
    given.ticks_after = collector::now();
    given.event = *std::get<kEvent>(all);
    if (succeeded(result, all) && given.event != nullptr) {
      if (given.asked_for) next_layer->clRetainEvent(given.event);
      const std::span after(std::get<kEvent - 1>(all), size_t{std::get<kEvent - 2>(all)});
      tell_call(given, after, argument_or<kWhat.blocking, cl_bool>(all, CL_FALSE) != CL_FALSE);
      put_under_way(*next_layer, given);
    }
    call_ends(kWhat.name);
    return result;
  }
};

}  // namespace

void take_enqueues(cl_icd_dispatch& table) {
#define ENQUEUE(function, kind, direction, blocking, bytes, kernel)      \
  if (table.function != nullptr) {                                       \
    table.function = StandIn<k_##function, &cl_icd_dispatch::function,   \
                             decltype(cl_icd_dispatch::function)>::call; \
  }
#include "gpu/opencl/enqueues.def"
#undef ENQUEUE
}

}  // namespace culprit::gpu::opencl
