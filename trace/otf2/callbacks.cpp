// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// OTF2's callbacks: each unpacks one kind of record and hands it to the EventDecoder that is its
// user data. Kinds that culprit does not analyse are one line each and pass on only their name.
#include <algorithm>

#include "trace/otf2/events.h"

namespace culprit::trace {

namespace {

constexpr OTF2_CallbackCode kGoOn = OTF2_CALLBACK_SUCCESS;
using Attributes = OTF2_AttributeList*;

EventDecoder& decoder(void* data) {
  return *static_cast<EventDecoder*>(data);
}

OTF2_CallbackCode on_enter(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data, Attributes,
                           OTF2_RegionRef region) {
  decoder(data).enter(time, region);
  return kGoOn;
}

OTF2_CallbackCode on_leave(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data,
                           Attributes attributes, OTF2_RegionRef region) {
  decoder(data).leave(time, region, attributes);
  return kGoOn;
}

OTF2_CallbackCode on_context_enter(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data,
                                   Attributes, OTF2_CallingContextRef context, uint32_t) {
  decoder(data).context_enter(time, context);
  return kGoOn;
}

OTF2_CallbackCode on_context_leave(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data,
                                   Attributes, OTF2_CallingContextRef context) {
  decoder(data).context_leave(time, context);
  return kGoOn;
}

OTF2_CallbackCode on_send(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data,
                          Attributes attributes, uint32_t peer, OTF2_CommRef comm, uint32_t tag,
                          uint64_t bytes) {
  EventDecoder& d = decoder(data);
  d.message(time, attributes, comm, peer, tag, bytes,
            [&](Time at, const MpiMessage& m) { d.sink().mpi_send(at, m); });
  return kGoOn;
}

OTF2_CallbackCode on_recv(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data,
                          Attributes attributes, uint32_t peer, OTF2_CommRef comm, uint32_t tag,
                          uint64_t bytes) {
  EventDecoder& d = decoder(data);
  d.message(time, attributes, comm, peer, tag, bytes,
            [&](Time at, const MpiMessage& m) { d.sink().mpi_recv(at, m); });
  return kGoOn;
}

OTF2_CallbackCode on_isend(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data,
                           Attributes attributes, uint32_t peer, OTF2_CommRef comm, uint32_t tag,
                           uint64_t bytes, uint64_t request) {
  EventDecoder& d = decoder(data);
  d.message(time, attributes, comm, peer, tag, bytes,
            [&](Time at, const MpiMessage& m) { d.sink().mpi_isend(at, m, RequestId{request}); });
  return kGoOn;
}

OTF2_CallbackCode on_irecv(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data,
                           Attributes attributes, uint32_t peer, OTF2_CommRef comm, uint32_t tag,
                           uint64_t bytes, uint64_t request) {
  EventDecoder& d = decoder(data);
  d.message(time, attributes, comm, peer, tag, bytes,
            [&](Time at, const MpiMessage& m) { d.sink().mpi_irecv(at, m, RequestId{request}); });
  return kGoOn;
}

/// The records that say only "this request".
template <void (EventSink::*kDeliver)(Time, RequestId)>
OTF2_CallbackCode on_request(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data,
                             Attributes, uint64_t request) {
  EventDecoder& d = decoder(data);
  (d.sink().*kDeliver)(d.at(time), RequestId{request});
  return kGoOn;
}

/// The end says it all, and archives without begins exist.
OTF2_CallbackCode on_collective_begin(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data,
                                      Attributes) {
  decoder(data).at(time);
  return kGoOn;
}

OTF2_CallbackCode on_collective_end(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data,
                                    Attributes attributes, OTF2_CollectiveOp op, OTF2_CommRef comm,
                                    uint32_t root, uint64_t sent, uint64_t received) {
  EventDecoder& d = decoder(data);
  const Time at = d.at(time);
  const auto collective = d.collective(attributes, op, comm, root, sent, received);
  if (collective) d.sink().mpi_collective(at, *collective);
  return kGoOn;
}

OTF2_CallbackCode on_icollective_complete(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t,
                                          void* data, Attributes attributes, OTF2_CollectiveOp op,
                                          OTF2_CommRef comm, uint32_t root, uint64_t sent,
                                          uint64_t received, uint64_t request) {
  EventDecoder& d = decoder(data);
  const Time at = d.at(time);
  const auto collective = d.collective(attributes, op, comm, root, sent, received);
  if (collective) d.sink().mpi_icollective_complete(at, *collective, RequestId{request});
  return kGoOn;
}

OTF2_CallbackCode on_fork(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data,
                          Attributes attributes, OTF2_Paradigm, uint32_t requested) {
  EventDecoder& d = decoder(data);
  d.sink().thread_fork(d.at(time), requested, d.instance(attributes));
  return kGoOn;
}

OTF2_CallbackCode on_old_fork(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data,
                              Attributes attributes, uint32_t requested) {
  EventDecoder& d = decoder(data);
  d.sink().thread_fork(d.at(time), requested, d.instance(attributes));
  return kGoOn;
}

OTF2_CallbackCode on_join(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data, Attributes,
                          OTF2_Paradigm) {
  EventDecoder& d = decoder(data);
  d.sink().thread_join(d.at(time));
  return kGoOn;
}

OTF2_CallbackCode on_old_join(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data,
                              Attributes) {
  EventDecoder& d = decoder(data);
  d.sink().thread_join(d.at(time));
  return kGoOn;
}

OTF2_CallbackCode on_team_begin(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data,
                                Attributes attributes, OTF2_CommRef) {
  EventDecoder& d = decoder(data);
  d.promises().saw_team();
  d.sink().thread_team_begin(d.at(time), d.instance(attributes));
  return kGoOn;
}

OTF2_CallbackCode on_team_end(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data,
                              Attributes, OTF2_CommRef) {
  EventDecoder& d = decoder(data);
  d.sink().thread_team_end(d.at(time));
  return kGoOn;
}

OTF2_CallbackCode on_sample(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data, Attributes,
                            OTF2_CallingContextRef, uint32_t, OTF2_InterruptGeneratorRef) {
  EventDecoder& d = decoder(data);
  d.promises().saw_sample();
  d.sink().other(d.at(time), "CallingContextSample");
  return kGoOn;
}

using DeliverMutex = void (EventSink::*)(Time, MutexKind, uint64_t);

template <DeliverMutex kDeliver>
OTF2_CallbackCode on_old_mutex(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data,
                               Attributes attributes, uint32_t lock, uint32_t) {
  EventDecoder& d = decoder(data);
  (d.sink().*kDeliver)(d.at(time), d.mutex_kind(attributes), d.mutex_id(attributes, lock));
  return kGoOn;
}

template <DeliverMutex kDeliver>
OTF2_CallbackCode on_mutex(OTF2_LocationRef location, OTF2_TimeStamp time, uint64_t position,
                           void* data, Attributes attributes, OTF2_Paradigm, uint32_t lock,
                           uint32_t order) {
  return on_old_mutex<kDeliver>(location, time, position, data, attributes, lock, order);
}

OTF2_CallbackCode on_metric(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data, Attributes,
                            OTF2_MetricRef metric, uint8_t count, const OTF2_Type* types,
                            const OTF2_MetricValue* values) {
  decoder(data).metric(time, metric, {types, count}, values);
  return kGoOn;
}

using DeliverTask = void (EventSink::*)(Time, TaskId);

template <DeliverTask kDeliver>
OTF2_CallbackCode on_task(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data, Attributes,
                          OTF2_CommRef, uint32_t creator, uint32_t generation) {
  EventDecoder& d = decoder(data);
  (d.sink().*kDeliver)(d.at(time), TaskId{creator, generation});
  return kGoOn;
}

/// The name of a kind of record as a template argument.
template <size_t kSize>
struct Literal {
  constexpr Literal(const char (&characters)[kSize]) { std::copy_n(characters, kSize, text); }
  char text[kSize];
};

/// Passes on only the kind's name; which facts come with it, the callback's type tells.
template <Literal kKind, class... Facts>
OTF2_CallbackCode on_other(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data, Attributes,
                           Facts...) {
  EventDecoder& d = decoder(data);
  d.sink().other(d.at(time), kKind.text);
  return kGoOn;
}

template <class Number, Literal kKind>
OTF2_CallbackCode on_parameter(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data,
                               Attributes attributes, OTF2_ParameterRef parameter, Number number) {
  EventDecoder& d = decoder(data);
  if (d.device(time, parameter, static_cast<uint64_t>(number), attributes)) return kGoOn;
  const Time at = d.at(time);
  if (d.is_iteration(parameter)) {
    d.sink().iteration(at, static_cast<int64_t>(number));
  } else if (const Fact* fact = d.fact(parameter)) {
    if (*fact == Fact::unanswered) d.promises().saw_unanswered();
    d.sink().fact(at, *fact, static_cast<uint64_t>(number));
  } else {
    d.sink().other(at, kKind.text);
  }
  return kGoOn;
}

OTF2_CallbackCode on_measurement(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* data,
                                 Attributes, OTF2_MeasurementMode mode) {
  EventDecoder& d = decoder(data);
  d.sink().recording(d.at(time), mode == OTF2_MEASUREMENT_ON);
  return kGoOn;
}

void set_user(OTF2_EvtReaderCallbacks* c) {
  OTF2_EvtReaderCallbacks_SetParameterIntCallback(c, on_parameter<int64_t, "ParameterInt">);
  OTF2_EvtReaderCallbacks_SetParameterUnsignedIntCallback(
      c, on_parameter<uint64_t, "ParameterUnsignedInt">);
  OTF2_EvtReaderCallbacks_SetMeasurementOnOffCallback(c, on_measurement);
}

void set_messages(OTF2_EvtReaderCallbacks* c) {
  OTF2_EvtReaderCallbacks_SetMpiSendCallback(c, on_send);
  OTF2_EvtReaderCallbacks_SetMpiRecvCallback(c, on_recv);
  OTF2_EvtReaderCallbacks_SetMpiIsendCallback(c, on_isend);
  OTF2_EvtReaderCallbacks_SetMpiIsendCompleteCallback(c,
                                                      on_request<&EventSink::mpi_isend_complete>);
  OTF2_EvtReaderCallbacks_SetMpiIrecvRequestCallback(c, on_request<&EventSink::mpi_irecv_request>);
  OTF2_EvtReaderCallbacks_SetMpiIrecvCallback(c, on_irecv);
  OTF2_EvtReaderCallbacks_SetMpiRequestTestCallback(c, on_request<&EventSink::mpi_request_test>);
  OTF2_EvtReaderCallbacks_SetMpiRequestCancelledCallback(
      c, on_request<&EventSink::mpi_request_cancelled>);
}

void set_collectives(OTF2_EvtReaderCallbacks* c) {
  OTF2_EvtReaderCallbacks_SetMpiCollectiveBeginCallback(c, on_collective_begin);
  OTF2_EvtReaderCallbacks_SetMpiCollectiveEndCallback(c, on_collective_end);
  OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveRequestCallback(
      c, on_request<&EventSink::mpi_icollective_request>);
  OTF2_EvtReaderCallbacks_SetNonBlockingCollectiveCompleteCallback(c, on_icollective_complete);
}

void set_threads(OTF2_EvtReaderCallbacks* c) {
  OTF2_EvtReaderCallbacks_SetThreadForkCallback(c, on_fork);
  OTF2_EvtReaderCallbacks_SetThreadJoinCallback(c, on_join);
  OTF2_EvtReaderCallbacks_SetThreadTeamBeginCallback(c, on_team_begin);
  OTF2_EvtReaderCallbacks_SetThreadTeamEndCallback(c, on_team_end);
  OTF2_EvtReaderCallbacks_SetThreadAcquireLockCallback(c, on_mutex<&EventSink::mutex_acquired>);
  OTF2_EvtReaderCallbacks_SetThreadReleaseLockCallback(c, on_mutex<&EventSink::mutex_released>);
  OTF2_EvtReaderCallbacks_SetThreadTaskCreateCallback(c, on_task<&EventSink::task_create>);
  OTF2_EvtReaderCallbacks_SetThreadTaskSwitchCallback(c, on_task<&EventSink::task_switch>);
  OTF2_EvtReaderCallbacks_SetThreadTaskCompleteCallback(c, on_task<&EventSink::task_complete>);
  OTF2_EvtReaderCallbacks_SetOmpForkCallback(c, on_old_fork);
  OTF2_EvtReaderCallbacks_SetOmpJoinCallback(c, on_old_join);
  OTF2_EvtReaderCallbacks_SetOmpAcquireLockCallback(c, on_old_mutex<&EventSink::mutex_acquired>);
  OTF2_EvtReaderCallbacks_SetOmpReleaseLockCallback(c, on_old_mutex<&EventSink::mutex_released>);
}

#define CULPRIT_OTHER(kind) OTF2_EvtReaderCallbacks_Set##kind##Callback(c, on_other<#kind>);

void set_others(OTF2_EvtReaderCallbacks* c) {
  CULPRIT_OTHER(Unknown)
  CULPRIT_OTHER(BufferFlush)
  CULPRIT_OTHER(ProgramBegin)
  CULPRIT_OTHER(ProgramEnd)
  CULPRIT_OTHER(CommCreate)
  CULPRIT_OTHER(CommDestroy)
  CULPRIT_OTHER(ParameterString)
  CULPRIT_OTHER(OmpTaskCreate)
  CULPRIT_OTHER(OmpTaskSwitch)
  CULPRIT_OTHER(OmpTaskComplete)
  CULPRIT_OTHER(ThreadCreate)
  CULPRIT_OTHER(ThreadBegin)
  CULPRIT_OTHER(ThreadWait)
  CULPRIT_OTHER(ThreadEnd)
  CULPRIT_OTHER(RmaWaitChange)
  CULPRIT_OTHER(RmaOpTest)
  CULPRIT_OTHER(IoDuplicateHandle)
  CULPRIT_OTHER(IoSeek)
  CULPRIT_OTHER(IoChangeStatusFlags)
  CULPRIT_OTHER(IoDeleteFile)
  CULPRIT_OTHER(IoOperationTest)
  CULPRIT_OTHER(IoOperationCancelled)
  CULPRIT_OTHER(IoAcquireLock)
  CULPRIT_OTHER(IoReleaseLock)
  CULPRIT_OTHER(IoTryLock)
}

#undef CULPRIT_OTHER

}  // namespace

const OTF2_EvtReaderCallbacks* EventDecoder::callbacks() {
  static const OTF2_EvtReaderCallbacks* const all = [] {
    OTF2_EvtReaderCallbacks* c = OTF2_EvtReaderCallbacks_New();
    OTF2_EvtReaderCallbacks_SetEnterCallback(c, on_enter);
    OTF2_EvtReaderCallbacks_SetLeaveCallback(c, on_leave);
    OTF2_EvtReaderCallbacks_SetCallingContextEnterCallback(c, on_context_enter);
    OTF2_EvtReaderCallbacks_SetCallingContextLeaveCallback(c, on_context_leave);
    OTF2_EvtReaderCallbacks_SetCallingContextSampleCallback(c, on_sample);
    OTF2_EvtReaderCallbacks_SetMetricCallback(c, on_metric);
    set_messages(c);
    set_collectives(c);
    set_threads(c);
    set_user(c);
    set_others(c);
    set_one_sided_callbacks(c);
    set_file_callbacks(c);
    return c;
  }();
  return all;
}

}  // namespace culprit::trace
