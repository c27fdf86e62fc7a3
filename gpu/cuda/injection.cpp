// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// CUDA's driver opens the library that CUDA_INJECTION64_PATH names when it is initialised, before
// there is any context, and calls InitializeInjection. From then on CUPTI reports calls and
// records; a process is worth recording from its first context on. CUPTI has room for one tool:
// where another is first, or comes later, the program goes on without us, and the report says so.
// cuptiFinalize is never called, and no synchronisation is added.
#include <cupti.h>
#include <time.h>

#include <atomic>
#include <cstdlib>
#include <string>

#include "collector/process/cupti_place.h"
#include "collector/process/environment.h"
#include "collector/process/recorder.h"
#include "gpu/cuda/activities.h"
#include "gpu/cuda/arguments.h"
#include "gpu/cuda/buffers.h"
#include "gpu/cuda/calls.h"
#include "gpu/cuda/contexts.h"
#include "gpu/cuda/waiting_calls.h"
#include "gpu/drain.h"
#include "gpu/face.h"

namespace culprit::gpu::cuda {

namespace {

using std::chrono::seconds;

constexpr seconds kLastFlush{4};
constexpr seconds kFlushOfContext{1};
/// Rounds of the drain between flushes of complete records.
constexpr unsigned kRoundsBetweenFlushes = 10;

Cupti g_cupti;
Calls g_calls;
bool g_own_clock = false;
std::atomic<bool> g_begun{false};

/// This thread's state: how deep it is inside CUDA's functions, the outermost of them, and whether
/// that one is recorded; if not, when it began. In the static storage of threads: dynamic thread
/// storage is allocated, which ends the program if there is no memory.
struct InCall {
  int depth = 0;
  bool recorded = false;
  bool asks = false;      ///< likewise, but only once its answer is known
  bool captures = false;  ///< between calls that begin and end it
  const char* name = nullptr;
  uint64_t since = 0;
};
constinit thread_local InCall t_call __attribute__((tls_model("initial-exec"))) = {};

// --- Clock ---

uint64_t monotonic_nanoseconds() {
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

uint64_t CUPTIAPI own_clock() {
  return monotonic_nanoseconds();
}

/// The present time on the clock that CUPTI uses for its records.
uint64_t device_nanoseconds() {
  if (g_own_clock) return monotonic_nanoseconds();
  uint64_t time = 0;
  g_cupti.cuptiGetTimestamp(&time);
  return time;
}

// --- The drain's part ---

bool flush_complete() {
  pair_clocks(device_nanoseconds);
  g_cupti.cuptiActivityFlushAll(0);
  return false;
}

bool flush_all() {
  pair_clocks(device_nanoseconds);
  g_cupti.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  return false;
}

bool collect() {
  static unsigned rounds = 0;
  const bool due = ++rounds % kRoundsBetweenFlushes == 0;
  return (buffers_run_short() || due) && flush_complete();
}

void at_exit() {
  drain_now(flush_all, kLastFlush, true);
}

void begin_following() {
  if (!begin_device_log(DeviceApi::cuda) || g_begun.exchange(true)) return;
  runtime_is(DeviceApi::cuda, "CUPTI " + std::to_string(g_cupti.version));
  start_drain(collect);
  // Registered behind CUDA's own handler, which therefore runs after it.
  atexit(at_exit);
}

// --- Callbacks ---

void tell(const Call& call, const CUpti_CallbackData& data) {
  const OperationNumber number{data.correlationId};
  const bool for_sure = hands_over_for_sure(call, data);
  if (for_sure && call.operation == DeviceOpKind::host && !t_call.captures) {
    const HostFunction given = host_function_of(g_cupti, data);
    call_handed_over(call.operation, given.queue, number, given.address);
  } else if (call.kind == CallKind::hands_over) {
    // Of anything else it is no loss if the device has no record.
    call_handed_over(for_sure ? call.operation : DeviceOpKind::other, QueueNumber::none, number);
  }
  if (!for_sure && call.waits == CallWaits::own_operation) return;
  switch (call.waits) {
    case CallWaits::no:
      return;
    case CallWaits::own_operation:
    case CallWaits::event:
      return call_waited_for(number);
    case CallWaits::stream:
      return call_waited_for_queue_of(number);
    case CallWaits::device:
      return call_waited_for(device_of_context(data.contextUid), number);
    case CallWaits::device_untracked:
      return call_waited_for(device_of_context(data.contextUid));
  }
}

void enter(InCall& in, const Call& call) {
  in.name = call.name;
  in.asks = call.kind == CallKind::asks;
  if (in.asks) {
    in.since = begin_to_ask();
    return;
  }
  other_call_begins();
  in.recorded = call.kind != CallKind::first && call_begins(call.name);
  if (!in.recorded) in.since = collector::now();
}

/// It is of interest if it was in vain, or if others were before it.
void answer(const InCall& in, const Call& call, const CUpti_CallbackData& data) {
  if (in.since == 0) return;
  asked(call.name, in.since, question_of(g_cupti, call, data), !is_too_early(data));
}

/// The runtime's functions call the driver's: the outermost counts.
void on_call(const Call& call, const CUpti_CallbackData& data) {
  InCall& in = t_call;
  if (data.callbackSite == CUPTI_API_ENTER) {
    if (in.depth++ == 0) {
      enter(in, call);
      if (call.waits != CallWaits::no && !in.asks) note_waiting_call(data.correlationId);
    }
    return;
  }
  if (in.depth == 0 || --in.depth > 0) return;
  if (in.asks) return answer(in, call, data);
  if (!in.recorded) return;
  in.recorded = false;
  in.captures = (in.captures || call.begins_capture) && !call.ends_capture;
  if (call.operation == DeviceOpKind::marker) note_recording(data);
  tell(call, data);
  call_ends(call.name);
}

/// A context or a module exists now: the current call's work until now was for its sake.
void runtime_started_up() {
  InCall& in = t_call;
  if (in.depth == 0 || in.asks) return;
  if (in.recorded) {
    call_started_up();
  } else {
    in.recorded = call_begins_with_start_up(in.name, in.since);
  }
}

void context_created(CUcontext context) {
  begin_following();
  if (!is_on()) return;
  add_context(g_cupti, context);
  pair_clocks(device_nanoseconds);
  runtime_started_up();
}

void on_resource(uint32_t what, const CUpti_ResourceData& data) {
  switch (what) {
    case CUPTI_CBID_RESOURCE_CONTEXT_CREATED:
      return context_created(data.context);
    case CUPTI_CBID_RESOURCE_MODULE_LOADED:
      return runtime_started_up();
    case CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING:
      drain_now(flush_complete, kFlushOfContext, false);
      return;
    default:
      return;
  }
}

void CUPTIAPI on_callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId number,
                          const void* data) {
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
    return on_resource(number, *static_cast<const CUpti_ResourceData*>(data));
  }
  const Call& call = g_calls.find(domain, number);
  if (call.name != nullptr) on_call(call, *static_cast<const CUpti_CallbackData*>(data));
}

// --- Start ---

trace::RawDeviceRefusal g_refusal = trace::RawDeviceRefusal::none;
std::string* g_reason = nullptr;

/// Once the process is recorded, for whatever else it does.
bool tell_refusal() {
  static bool told = false;
  if (!told && collector::is_active() && begin_device_log(DeviceApi::cuda)) {
    runtime_is(DeviceApi::cuda, *g_reason, g_refusal);
    told = true;
  }
  return false;
}

void go_without(trace::RawDeviceRefusal refusal, const std::string& reason) {
  g_refusal = refusal;
  g_reason = new std::string(reason);
  start_drain(tell_refusal);
  atexit([] { tell_refusal(); });
}

CUpti_SubscriberHandle g_subscriber = nullptr;

/// The program wants CUPTI for itself. Calls that are under way stay open in the records, and are
/// cut where the refusal stands.
void leave_cupti() {
  const std::string reason = "the program used CUPTI itself from there on";
  drain_now(flush_all, kLastFlush, true);
  if (is_on()) {
    runtime_is(DeviceApi::cuda, reason, trace::RawDeviceRefusal::other_tool);
  } else {
    go_without(trace::RawDeviceRefusal::other_tool, reason);
  }
  disable_activities(g_cupti);
  g_cupti.cuptiUnsubscribe(g_subscriber);
  if (g_own_clock) g_cupti.cuptiActivityRegisterTimestampCallback(nullptr);
}

void start() {
  if (!open_cupti(g_cupti)) {
    return go_without(trace::RawDeviceRefusal::no_tools, "libcupti.so of CUDA 12 or 13");
  }
  CUptiResult result = g_cupti.cuptiSubscribe(&g_subscriber, on_callback, nullptr);
  if (result != CUPTI_SUCCESS || g_subscriber == nullptr) {
    const bool other = result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED ||
                       result == CUPTI_ERROR_MAX_LIMIT_REACHED;
    return go_without(other ? trace::RawDeviceRefusal::other_tool : trace::RawDeviceRefusal::failed,
                      "cuptiSubscribe: " + g_cupti.text_of(result));
  }
  // Once only, and before any record: CUPTI mixes up clocks otherwise.
  g_own_clock = g_cupti.takes_a_clock() &&
                g_cupti.cuptiActivityRegisterTimestampCallback(own_clock) == CUPTI_SUCCESS;
  result = enable_activities(g_cupti, collector::environment().cuda_graphs == "nodes");
  if (result != CUPTI_SUCCESS) {
    return go_without(trace::RawDeviceRefusal::failed,
                      "cuptiActivityEnable: " + g_cupti.text_of(result));
  }
  for (const auto what : {CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_MODULE_LOADED,
                          CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING}) {
    g_cupti.cuptiEnableCallback(1, g_subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                                static_cast<CUpti_CallbackId>(what));
  }
  g_calls.enable(g_cupti, g_subscriber);
  collector::hold_cupti_place(leave_cupti);
}

}  // namespace

}  // namespace culprit::gpu::cuda

/// Called by CUDA's driver. It goes on whatever is returned.
extern "C" CULPRIT_EXPORT int InitializeInjection(void) {
  static std::atomic<bool> called{false};
  if (called.exchange(true) ||
      !culprit::collector::culprit_takes_probe(culprit::trace::kRawVersion))
    return 1;
  if (!culprit::collector::environment().wanted) return 1;
  culprit::gpu::cuda::start();
  return 1;
}
