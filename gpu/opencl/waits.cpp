// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Calls in which the host waits for operations, lets them go, or is busy for long. Callbacks on
// events stay the program's and the runtime's own business.
#include "gpu/opencl/layer.h"

namespace culprit::gpu::opencl {

namespace {

/// A call that is recorded if calls are.
class Call {
 public:
  explicit Call(const char* name) : name_(name), recorded_(follows() && call_begins(name)) {}
  ~Call() {
    if (recorded_) call_ends(name_);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  explicit operator bool() const { return recorded_; }

 private:
  const char* name_;
  bool recorded_;
};

cl_int CL_API_CALL finish(cl_command_queue handle) {
  const Call call("clFinish");
  const Queue queue = call ? find(handle) : Queue{};
  const cl_int status = next_layer->clFinish(handle);
  if (call && queue.followed) call_waited_for(queue.number);
  return status;
}

cl_int CL_API_CALL wait_for_events(cl_uint count, const cl_event* events) {
  const Call call("clWaitForEvents");
  std::vector<OperationNumber> awaited;
  if (call && events != nullptr) awaited = operations_of({events, count});
  const cl_int status = next_layer->clWaitForEvents(count, events);
  if (call) {
    for (const OperationNumber operation : awaited) call_waited_for(operation);
  }
  return status;
}

cl_event CL_API_CALL create_user_event(cl_context context, cl_int* error) {
  cl_event event = next_layer->clCreateUserEvent(context, error);
  if (event != nullptr && follows()) put_user_event(event, next_operation());
  return event;
}

cl_int CL_API_CALL set_user_event(cl_event event, cl_int status) {
  const Call call("clSetUserEventStatus");
  if (call) {
    const OperationNumber number = take_user_event(event);
    if (number != OperationNumber::none) {
      call_handed_over(DeviceOpKind::release, QueueNumber::none, number);
    }
  }
  return next_layer->clSetUserEventStatus(event, status);
}

/// Functions of which only the time is of interest: kNext is a member of the table.
template <auto kNext, const char* kName, class Function>
struct Timed;
template <auto kNext, const char* kName, class Result, class... Arguments>
struct Timed<kNext, kName, Result(CL_API_CALL*)(Arguments...)> {
  static Result CL_API_CALL call(Arguments... arguments) {
    const Call call(kName);
    return (next_layer->*kNext)(arguments...);
  }
};

/// Functions with which a program begins to use devices, whatever it asks before: recording begins.
template <auto kNext, const char* kName, class Function>
struct First;
template <auto kNext, const char* kName, class Result, class... Arguments>
struct First<kNext, kName, Result(CL_API_CALL*)(Arguments...)> {
  static Result CL_API_CALL call(Arguments... arguments) {
    begin_following();
    return Timed<kNext, kName, Result(CL_API_CALL*)(Arguments...)>::call(arguments...);
  }
};

constexpr char kContext[] = "clCreateContext";
constexpr char kContextFromType[] = "clCreateContextFromType";
constexpr char kFlush[] = "clFlush";
constexpr char kBuild[] = "clBuildProgram";
constexpr char kCompile[] = "clCompileProgram";
constexpr char kLink[] = "clLinkProgram";
constexpr char kMarker[] = "clEnqueueMarker";
constexpr char kBarrier[] = "clEnqueueBarrier";
constexpr char kWait[] = "clEnqueueWaitForEvents";

template <auto kNext, const char* kName, class Function>
void take(Function& place) {
  if (place != nullptr) place = Timed<kNext, kName, Function>::call;
}

}  // namespace

void take_waits(cl_icd_dispatch& table) {
  table.clFinish = finish;
  table.clWaitForEvents = wait_for_events;
  if (table.clCreateUserEvent != nullptr) table.clCreateUserEvent = create_user_event;
  if (table.clSetUserEventStatus != nullptr) table.clSetUserEventStatus = set_user_event;
  table.clCreateContext = First<&cl_icd_dispatch::clCreateContext, kContext,
                                decltype(cl_icd_dispatch::clCreateContext)>::call;
  table.clCreateContextFromType = First<&cl_icd_dispatch::clCreateContextFromType, kContextFromType,
                                        decltype(cl_icd_dispatch::clCreateContextFromType)>::call;
  take<&cl_icd_dispatch::clFlush, kFlush>(table.clFlush);
  take<&cl_icd_dispatch::clBuildProgram, kBuild>(table.clBuildProgram);
  take<&cl_icd_dispatch::clCompileProgram, kCompile>(table.clCompileProgram);
  take<&cl_icd_dispatch::clLinkProgram, kLink>(table.clLinkProgram);
  take<&cl_icd_dispatch::clEnqueueMarker, kMarker>(table.clEnqueueMarker);
  take<&cl_icd_dispatch::clEnqueueBarrier, kBarrier>(table.clEnqueueBarrier);
  take<&cl_icd_dispatch::clEnqueueWaitForEvents, kWait>(table.clEnqueueWaitForEvents);
}

}  // namespace culprit::gpu::opencl
