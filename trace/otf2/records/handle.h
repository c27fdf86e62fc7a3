// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What is done with each kind of record (records.def), whoever has unpacked it: OTF2
// (callbacks.cpp) or our own reader (plain/). Windows and files are in handle_one_sided.h.
#pragma once

#include <otf2/otf2.h>

#include <algorithm>

#include "trace/otf2/events.h"
#include "trace/otf2/records/attributes.h"

namespace culprit::trace {

inline void on_enter(EventDecoder& d, OTF2_TimeStamp time, const Attributes&,
                     OTF2_RegionRef region) {
  d.enter(time, region);
}

inline void on_leave(EventDecoder& d, OTF2_TimeStamp time, const Attributes& attributes,
                     OTF2_RegionRef region) {
  d.leave(time, region, attributes);
}

inline void on_context_enter(EventDecoder& d, OTF2_TimeStamp time, const Attributes&,
                             OTF2_CallingContextRef context, uint32_t) {
  d.context_enter(time, context);
}

inline void on_context_leave(EventDecoder& d, OTF2_TimeStamp time, const Attributes&,
                             OTF2_CallingContextRef context) {
  d.context_leave(time, context);
}

inline void on_send(EventDecoder& d, OTF2_TimeStamp time, const Attributes& attributes,
                    uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes) {
  d.message(time, attributes, comm, peer, tag, bytes,
            [&](Time at, const MpiMessage& m) { d.sink().mpi_send(at, m); });
}

inline void on_recv(EventDecoder& d, OTF2_TimeStamp time, const Attributes& attributes,
                    uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes) {
  d.message(time, attributes, comm, peer, tag, bytes,
            [&](Time at, const MpiMessage& m) { d.sink().mpi_recv(at, m); });
}

inline void on_isend(EventDecoder& d, OTF2_TimeStamp time, const Attributes& attributes,
                     uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
                     uint64_t request) {
  d.message(time, attributes, comm, peer, tag, bytes,
            [&](Time at, const MpiMessage& m) { d.sink().mpi_isend(at, m, RequestId{request}); });
}

inline void on_irecv(EventDecoder& d, OTF2_TimeStamp time, const Attributes& attributes,
                     uint32_t peer, OTF2_CommRef comm, uint32_t tag, uint64_t bytes,
                     uint64_t request) {
  d.message(time, attributes, comm, peer, tag, bytes,
            [&](Time at, const MpiMessage& m) { d.sink().mpi_irecv(at, m, RequestId{request}); });
}

/// The records that say only "this request".
template <void (EventSink::*kDeliver)(Time, RequestId)>
void on_request(EventDecoder& d, OTF2_TimeStamp time, const Attributes&, uint64_t request) {
  (d.sink().*kDeliver)(d.at(time), RequestId{request});
}

/// The end says it all, and archives without begins exist.
inline void on_collective_begin(EventDecoder& d, OTF2_TimeStamp time, const Attributes&) {
  d.at(time);
}

inline void on_collective_end(EventDecoder& d, OTF2_TimeStamp time, const Attributes& attributes,
                              OTF2_CollectiveOp op, OTF2_CommRef comm, uint32_t root, uint64_t sent,
                              uint64_t received) {
  const Time at = d.at(time);
  const auto collective = d.collective(attributes, op, comm, root, sent, received);
  if (collective) d.sink().mpi_collective(at, *collective);
}

inline void on_icollective_complete(EventDecoder& d, OTF2_TimeStamp time,
                                    const Attributes& attributes, OTF2_CollectiveOp op,
                                    OTF2_CommRef comm, uint32_t root, uint64_t sent,
                                    uint64_t received, uint64_t request) {
  const Time at = d.at(time);
  const auto collective = d.collective(attributes, op, comm, root, sent, received);
  if (collective) d.sink().mpi_icollective_complete(at, *collective, RequestId{request});
}

inline void on_fork(EventDecoder& d, OTF2_TimeStamp time, const Attributes& attributes,
                    OTF2_Paradigm, uint32_t requested) {
  d.sink().thread_fork(d.at(time), requested, d.instance(attributes));
}

inline void on_old_fork(EventDecoder& d, OTF2_TimeStamp time, const Attributes& attributes,
                        uint32_t requested) {
  d.sink().thread_fork(d.at(time), requested, d.instance(attributes));
}

inline void on_join(EventDecoder& d, OTF2_TimeStamp time, const Attributes&, OTF2_Paradigm) {
  d.sink().thread_join(d.at(time));
}

inline void on_old_join(EventDecoder& d, OTF2_TimeStamp time, const Attributes&) {
  d.sink().thread_join(d.at(time));
}

inline void on_team_begin(EventDecoder& d, OTF2_TimeStamp time, const Attributes& attributes,
                          OTF2_CommRef) {
  d.promises().saw_team();
  d.sink().thread_team_begin(d.at(time), d.instance(attributes));
}

inline void on_team_end(EventDecoder& d, OTF2_TimeStamp time, const Attributes&, OTF2_CommRef) {
  d.sink().thread_team_end(d.at(time));
}

inline void on_sample(EventDecoder& d, OTF2_TimeStamp time, const Attributes&,
                      OTF2_CallingContextRef, uint32_t, OTF2_InterruptGeneratorRef) {
  d.promises().saw_sample();
  d.sink().other(d.at(time), "CallingContextSample");
}

using DeliverMutex = void (EventSink::*)(Time, MutexKind, uint64_t);

template <DeliverMutex kDeliver>
void on_old_mutex(EventDecoder& d, OTF2_TimeStamp time, const Attributes& attributes, uint32_t lock,
                  uint32_t) {
  (d.sink().*kDeliver)(d.at(time), d.mutex_kind(attributes), d.mutex_id(attributes, lock));
}

template <DeliverMutex kDeliver>
void on_mutex(EventDecoder& d, OTF2_TimeStamp time, const Attributes& attributes, OTF2_Paradigm,
              uint32_t lock, uint32_t order) {
  on_old_mutex<kDeliver>(d, time, attributes, lock, order);
}

/// The values of a metric class's members, with their types.
struct MetricValues {
  uint8_t count;
  const OTF2_Type* types;
  const OTF2_MetricValue* values;
};

/// OTF2's callback gets the values one by one.
struct OnMetric {
  void operator()(EventDecoder& d, OTF2_TimeStamp time, const Attributes&, OTF2_MetricRef metric,
                  MetricValues values) const {
    d.metric(time, metric, {values.types, values.count}, values.values);
  }
  void operator()(EventDecoder& d, OTF2_TimeStamp time, const Attributes& attributes,
                  OTF2_MetricRef metric, uint8_t count, const OTF2_Type* types,
                  const OTF2_MetricValue* values) const {
    (*this)(d, time, attributes, metric, MetricValues{count, types, values});
  }
};
inline constexpr OnMetric on_metric;

using DeliverTask = void (EventSink::*)(Time, TaskId);

template <DeliverTask kDeliver>
void on_task(EventDecoder& d, OTF2_TimeStamp time, const Attributes&, OTF2_CommRef,
             uint32_t creator, uint32_t generation) {
  (d.sink().*kDeliver)(d.at(time), TaskId{creator, generation});
}

/// The name of a kind of record as a template argument.
template <size_t kSize>
struct Literal {
  constexpr Literal(const char (&characters)[kSize]) { std::copy_n(characters, kSize, text); }
  char text[kSize];
};

/// Passes on only the kind's name.
template <Literal kKind>
struct Other {
  void operator()(EventDecoder& d, OTF2_TimeStamp time, const auto&...) const {
    d.sink().other(d.at(time), kKind.text);
  }
};

template <class Number>
void on_parameter(EventDecoder& d, OTF2_TimeStamp time, const Attributes& attributes,
                  OTF2_ParameterRef parameter, Number number, const char* kind) {
  if (d.device(time, parameter, static_cast<uint64_t>(number), attributes)) return;
  const Time at = d.at(time);
  if (d.is_iteration(parameter)) {
    d.sink().iteration(at, static_cast<int64_t>(number));
  } else if (const Fact* fact = d.fact(parameter)) {
    if (*fact == Fact::unanswered) d.promises().saw_unanswered();
    d.sink().fact(at, *fact, static_cast<uint64_t>(number));
  } else {
    d.sink().other(at, kind);
  }
}

inline void on_signed_parameter(EventDecoder& d, OTF2_TimeStamp time, const Attributes& attributes,
                                OTF2_ParameterRef parameter, int64_t number) {
  on_parameter(d, time, attributes, parameter, number, "ParameterInt");
}

inline void on_unsigned_parameter(EventDecoder& d, OTF2_TimeStamp time,
                                  const Attributes& attributes, OTF2_ParameterRef parameter,
                                  uint64_t number) {
  on_parameter(d, time, attributes, parameter, number, "ParameterUnsignedInt");
}

inline void on_measurement(EventDecoder& d, OTF2_TimeStamp time, const Attributes&,
                           OTF2_MeasurementMode mode) {
  d.sink().recording(d.at(time), mode == OTF2_MEASUREMENT_ON);
}

}  // namespace culprit::trace
