// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// One method per kind of event. An attribute list is emptied by the call that writes it, so one
// list serves all. The sink cannot complain to its caller: it remembers that something failed.
#include "trace/otf2/sink.h"

#include <algorithm>

#include "trace/otf2/names.h"

namespace culprit::trace {

namespace {

uint32_t otf2_root(const MpiCollective& collective) {
  if (collective.is_root) return static_cast<uint32_t>(OTF2_COLLECTIVE_ROOT_SELF);
  return collective.root.value_or(static_cast<uint32_t>(OTF2_COLLECTIVE_ROOT_NONE));
}

OTF2_CommRef ref(CommId comm) {
  return static_cast<OTF2_CommRef>(comm.index());
}
OTF2_RegionRef ref(RegionId region) {
  return static_cast<OTF2_RegionRef>(region.index());
}
uint64_t number(RequestId request) {
  return static_cast<uint64_t>(request);
}
uint32_t otf2_tag(const MpiMessage& message) {
  return static_cast<uint32_t>(message.tag);
}

/// OTF2 numbers locks with 32 bits. The number need only tell locks apart; the exact one, should it
/// not fit, is an attribute.
uint32_t otf2_lock(uint64_t lock) {
  return static_cast<uint32_t>(lock ^ (lock >> 32));
}

}  // namespace

Otf2Sink::Otf2Sink(OTF2_Archive* archive, OTF2_EvtWriter* writer, WrittenLocation& done)
    : archive_(archive), writer_(writer), done_(done), attributes_(OTF2_AttributeList_New()) {}

Otf2Sink::~Otf2Sink() {
  if (pending_enter_) write_pending();
  check(OTF2_EvtWriter_GetNumberOfEvents(writer_, &done_.events));
  check(OTF2_Archive_CloseEvtWriter(archive_, writer_));
}

void Otf2Sink::write_pending() {
  check(OTF2_EvtWriter_Enter(writer_, nullptr, pending_enter_->first, pending_enter_->second));
  pending_enter_.reset();
}

/// The time of a new event; what came before it is written.
OTF2_TimeStamp Otf2Sink::stamp(Time time) {
  if (pending_enter_) write_pending();
  done_.last = std::max(done_.last, static_cast<uint64_t>(std::max<int64_t>(time.nanos(), 0)));
  return done_.last;
}

OTF2_AttributeList* Otf2Sink::with(RegionInstance instance) {
  if (instance == RegionInstance::unknown) return nullptr;
  OTF2_AttributeList_AddUint64(attributes_.get(), kRegionInstanceRef,
                               static_cast<uint64_t>(instance));
  return attributes_.get();
}

OTF2_AttributeList* Otf2Sink::with(const MpiCollective& c) {
  OTF2_AttributeList* const list = attributes_.get();
  bool any = false;
  if (!mpi_record_says(c.op)) {
    OTF2_AttributeList_AddUint8(list, kCollectiveOpRef, static_cast<uint8_t>(c.op));
    any = true;
  }
  if (c.sends_to.valid()) {
    OTF2_AttributeList_AddGroupRef(list, kSendsToRef, group_ref(c.sends_to));
    any = true;
  }
  if (c.receives_from.valid()) {
    OTF2_AttributeList_AddGroupRef(list, kReceivesFromRef, group_ref(c.receives_from));
    any = true;
  }
  return any ? list : nullptr;
}

OTF2_AttributeList* Otf2Sink::with(const MpiMessage& m) {
  if (m.partitioned == 0 && m.probe == MatchedProbe::none) return nullptr;
  OTF2_AttributeList* const list = attributes_.get();
  if (m.partitioned != 0) OTF2_AttributeList_AddUint32(list, kPartitionedRef, m.partitioned);
  if (m.probe != MatchedProbe::none) {
    OTF2_AttributeList_AddUint64(list, kMatchedProbeRef, static_cast<uint64_t>(m.probe));
  }
  return list;
}

OTF2_AttributeList* Otf2Sink::with_facts_of_call() {
  if (facts_.depth == 0 || facts_.depth != depth_) return nullptr;
  const FactsOfCall facts = std::exchange(facts_, {});
  OTF2_AttributeList* const list = attributes_.get();
  if (facts.ready) OTF2_AttributeList_AddUint64(list, kReadyRequestRef, number(*facts.ready));
  if (facts.found) {
    OTF2_AttributeList_AddCommRef(list, kFoundCommRef, ref(facts.found->comm));
    OTF2_AttributeList_AddUint32(list, kFoundSourceRef, facts.found->peer);
    OTF2_AttributeList_AddUint32(list, kFoundTagRef, otf2_tag(*facts.found));
    OTF2_AttributeList_AddUint64(list, kFoundBytesRef, facts.found->bytes);
    if (facts.found->probe != MatchedProbe::none) {
      OTF2_AttributeList_AddUint64(list, kMatchedProbeRef,
                                   static_cast<uint64_t>(facts.found->probe));
    }
  }
  return list;
}

OTF2_AttributeList* Otf2Sink::with(MutexKind kind, uint64_t lock) {
  OTF2_AttributeList_AddUint8(attributes_.get(), kMutexKindRef, static_cast<uint8_t>(kind));
  if (lock > UINT32_MAX) OTF2_AttributeList_AddUint64(attributes_.get(), kMutexIdRef, lock);
  return attributes_.get();
}

void Otf2Sink::enter(Time time, RegionId region) {
  const OTF2_TimeStamp now = stamp(time);
  pending_enter_.emplace(now, ref(region));
  ++depth_;
}

void Otf2Sink::leave(Time time, RegionId region) {
  in_rma_collective_ = false;
  const OTF2_TimeStamp now = stamp(time);
  check(OTF2_EvtWriter_Leave(writer_, with_facts_of_call(), now, ref(region)));
  if (depth_ > 0) --depth_;
}

void Otf2Sink::mpi_send(Time time, const MpiMessage& m) {
  check(OTF2_EvtWriter_MpiSend(writer_, with(m), stamp(time), m.peer, ref(m.comm), otf2_tag(m),
                               m.bytes));
}

void Otf2Sink::mpi_recv(Time time, const MpiMessage& m) {
  check(OTF2_EvtWriter_MpiRecv(writer_, with(m), stamp(time), m.peer, ref(m.comm), otf2_tag(m),
                               m.bytes));
}

void Otf2Sink::mpi_isend(Time time, const MpiMessage& m, RequestId request) {
  check(OTF2_EvtWriter_MpiIsend(writer_, with(m), stamp(time), m.peer, ref(m.comm), otf2_tag(m),
                                m.bytes, number(request)));
}

void Otf2Sink::mpi_isend_complete(Time time, RequestId request) {
  check(OTF2_EvtWriter_MpiIsendComplete(writer_, nullptr, stamp(time), number(request)));
}

void Otf2Sink::mpi_irecv_request(Time time, RequestId request) {
  check(OTF2_EvtWriter_MpiIrecvRequest(writer_, nullptr, stamp(time), number(request)));
}

void Otf2Sink::mpi_irecv(Time time, const MpiMessage& m, RequestId request) {
  check(OTF2_EvtWriter_MpiIrecv(writer_, with(m), stamp(time), m.peer, ref(m.comm), otf2_tag(m),
                                m.bytes, number(request)));
}

// Outside of any call there is no record that could carry these facts; none are emitted there.

void Otf2Sink::mpi_isend_ready(Time, RequestId request) {
  facts_.depth = depth_;
  facts_.ready = request;
}

void Otf2Sink::mpi_probe(Time, const MpiMessage& m) {
  facts_.depth = depth_;
  facts_.found = m;
}

void Otf2Sink::mpi_request_test(Time time, RequestId request) {
  check(OTF2_EvtWriter_MpiRequestTest(writer_, nullptr, stamp(time), number(request)));
}

void Otf2Sink::mpi_request_cancelled(Time time, RequestId request) {
  check(OTF2_EvtWriter_MpiRequestCancelled(writer_, nullptr, stamp(time), number(request)));
}

void Otf2Sink::mpi_collective(Time time, const MpiCollective& c) {
  const bool first_in_call = pending_enter_.has_value();
  const OTF2_TimeStamp entered = done_.last;
  const OTF2_TimeStamp now = stamp(time);
  check(OTF2_EvtWriter_MpiCollectiveBegin(writer_, nullptr, first_in_call ? entered : now));
  check(OTF2_EvtWriter_MpiCollectiveEnd(writer_, with(c), now, to_otf2_of_mpi(c.op), ref(c.comm),
                                        otf2_root(c), c.bytes_sent, c.bytes_received));
}

void Otf2Sink::mpi_icollective_request(Time time, RequestId request) {
  check(
      OTF2_EvtWriter_NonBlockingCollectiveRequest(writer_, nullptr, stamp(time), number(request)));
}

void Otf2Sink::mpi_icollective_complete(Time time, const MpiCollective& c, RequestId request) {
  check(OTF2_EvtWriter_NonBlockingCollectiveComplete(
      writer_, with(c), stamp(time), to_otf2_of_mpi(c.op), ref(c.comm), otf2_root(c), c.bytes_sent,
      c.bytes_received, number(request)));
}

void Otf2Sink::thread_fork(Time time, uint32_t requested, RegionInstance instance) {
  check(OTF2_EvtWriter_ThreadFork(writer_, with(instance), stamp(time), OTF2_PARADIGM_OPENMP,
                                  requested));
}

void Otf2Sink::thread_join(Time time) {
  check(OTF2_EvtWriter_ThreadJoin(writer_, nullptr, stamp(time), OTF2_PARADIGM_OPENMP));
}

void Otf2Sink::thread_team_begin(Time time, RegionInstance instance) {
  done_.team = true;
  check(OTF2_EvtWriter_ThreadTeamBegin(writer_, with(instance), stamp(time), kLocalTeam));
}

void Otf2Sink::thread_team_end(Time time) {
  done_.team = true;
  check(OTF2_EvtWriter_ThreadTeamEnd(writer_, nullptr, stamp(time), kLocalTeam));
}

// The acquisition order, a number along all threads, is not known to one location: it stays 0, and
// the archive does not claim complete lock events.

void Otf2Sink::mutex_acquired(Time time, MutexKind kind, uint64_t lock) {
  check(OTF2_EvtWriter_ThreadAcquireLock(writer_, with(kind, lock), stamp(time),
                                         OTF2_PARADIGM_OPENMP, otf2_lock(lock), 0));
}

/// Counts are whole numbers. A set has fewer members than OTF2's 8 bits can count.
void Otf2Sink::metrics(Time time, MetricSetId set, std::span<const double> values) {
  OTF2_Type types[UINT8_MAX];
  OTF2_MetricValue converted[UINT8_MAX];
  const auto count = static_cast<uint8_t>(std::min<size_t>(values.size(), UINT8_MAX));
  for (size_t i = 0; i < count; ++i) {
    types[i] = OTF2_TYPE_UINT64;
    converted[i].unsigned_int = static_cast<uint64_t>(values[i]);
  }
  check(OTF2_EvtWriter_Metric(writer_, nullptr, stamp(time),
                              static_cast<OTF2_MetricRef>(set.index()), count, types, converted));
}

void Otf2Sink::mutex_released(Time time, MutexKind kind, uint64_t lock) {
  check(OTF2_EvtWriter_ThreadReleaseLock(writer_, with(kind, lock), stamp(time),
                                         OTF2_PARADIGM_OPENMP, otf2_lock(lock), 0));
}

void Otf2Sink::task_create(Time time, TaskId task) {
  done_.team = true;
  check(OTF2_EvtWriter_ThreadTaskCreate(writer_, nullptr, stamp(time), kLocalTeam, task.creator,
                                        task.generation));
}

void Otf2Sink::task_switch(Time time, TaskId task) {
  done_.team = true;
  check(OTF2_EvtWriter_ThreadTaskSwitch(writer_, nullptr, stamp(time), kLocalTeam, task.creator,
                                        task.generation));
}

void Otf2Sink::task_complete(Time time, TaskId task) {
  done_.team = true;
  check(OTF2_EvtWriter_ThreadTaskComplete(writer_, nullptr, stamp(time), kLocalTeam, task.creator,
                                          task.generation));
}

void Otf2Sink::fact(Time time, Fact fact, uint64_t value) {
  check(OTF2_EvtWriter_ParameterUnsignedInt(writer_, nullptr, stamp(time), fact_ref(fact), value));
}

void Otf2Sink::iteration(Time time, int64_t number) {
  check(OTF2_EvtWriter_ParameterInt(writer_, nullptr, stamp(time), kIterationRef, number));
}

void Otf2Sink::recording(Time time, bool on) {
  check(OTF2_EvtWriter_MeasurementOnOff(writer_, nullptr, stamp(time),
                                        on ? OTF2_MEASUREMENT_ON : OTF2_MEASUREMENT_OFF));
}

/// Archives have no place for what no reader of theirs knows.
void Otf2Sink::other(Time, const char*) {}

}  // namespace culprit::trace
