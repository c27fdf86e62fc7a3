// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The colder half of the decoder: times of other resolutions, damage, attributes, collectives.
#include "trace/otf2/events.h"

#include <algorithm>
#include <array>

#include "trace/otf2/names.h"

namespace culprit::trace {

namespace {

bool has(const OTF2_AttributeList* list, OTF2_AttributeRef attribute) {
  return attribute != OTF2_UNDEFINED_ATTRIBUTE && list &&
         OTF2_AttributeList_TestAttributeByID(list, attribute);
}

double value_of(OTF2_Type type, const OTF2_MetricValue& value) {
  if (type == OTF2_TYPE_INT64) return static_cast<double>(value.signed_int);
  if (type == OTF2_TYPE_DOUBLE) return value.floating_point;
  return static_cast<double>(value.unsigned_int);
}

}  // namespace

EventDecoder::EventDecoder(const ResolvedDefinitions& archive, LocationId location, EventSink& sink)
    : tables_(archive.tables),
      definitions_(archive.definitions),
      location_(location),
      sink_(sink),
      nanosecond_ticks_(archive.tables.resolution == 1'000'000'000),
      calls_have_facts_(archive.tables.found_comm != OTF2_UNDEFINED_ATTRIBUTE ||
                        archive.tables.ready_request != OTF2_UNDEFINED_ATTRIBUTE),
      messages_have_facts_(archive.tables.partitioned != OTF2_UNDEFINED_ATTRIBUTE ||
                           archive.tables.matched_probe != OTF2_UNDEFINED_ATTRIBUTE),
      last_(-kFarthest),
      devices_(archive.tables.devices, archive.definitions.devices.size()) {}

bool EventDecoder::device(OTF2_TimeStamp time, OTF2_ParameterRef parameter, uint64_t value,
                          const OTF2_AttributeList* attributes) {
  const auto what = tables_.devices.parameter(parameter);
  if (what) devices_.see(at(time), *what, value, attributes, sink_);
  return what.has_value();
}

/// Nanoseconds from the global offset, whatever the resolution; beyond kFarthest if absurd.
int64_t EventDecoder::nanos_from(OTF2_TimeStamp ticks) const {
  __extension__ using Wide = unsigned __int128;
  const bool before = ticks < tables_.offset;
  const uint64_t distance = before ? tables_.offset - ticks : ticks - tables_.offset;
  const Wide nanos = Wide{distance} * 1'000'000'000 / tables_.resolution;
  const int64_t clipped = nanos > Wide{kFarthest} ? kFarthest + 1 : static_cast<int64_t>(nanos);
  return before ? -clipped : clipped;
}

/// Counts a record whose time runs backwards or is out of range; it happens at the time of the one
/// before it.
Time EventDecoder::repaired(int64_t nanos) {
  ++(nanos > kFarthest || nanos < -kFarthest ? repairs_.far_times : repairs_.backward_times);
  if (last_ == -kFarthest) last_ = 0;
  return Time::from_nanos(last_);
}

/// Leaves regions entered after `region` and never left; ignores the leave if `region` is not open.
void EventDecoder::pop_misnested(Time time, RegionId region) {
  if (std::find(open_.begin(), open_.end(), region) == open_.end()) {
    ++repairs_.leaves_without_enter;
    return;
  }
  while (true) {
    const RegionId innermost = open_.back();
    open_.pop_back();
    sink_.leave(time, innermost);
    if (innermost == region) return;
    ++repairs_.forced_leaves;
  }
}

/// The end of MPI is a collective of all; older writers show only the call.
void EventDecoder::keep_promise(Time time, Promise promise) {
  if (!promises_.left(promise)) return;
  const ProcessId self = definitions_.locations[location_.index()].process;
  for (size_t c = 0; c < definitions_.comms.size(); ++c) {
    const Comm& comm = definitions_.comms[c];
    if (comm.kind != CommKind::mpi_world) continue;
    if (std::find(comm.members.begin(), comm.members.end(), self) == comm.members.end()) return;
    MpiCollective end;
    end.op = CollectiveOp::destroy_handle;
    end.comm = CommId(c);
    return sink_.mpi_collective(time, end);
  }
}

/// In an inter-communicator ranks count in the group that the caller is not in.
uint32_t EventDecoder::peers_of(const CommRef& ref) const {
  const Comm& comm = definitions_.comms[ref.id.index()];
  if (comm.kind != CommKind::mpi_inter) return ref.peers;
  const ProcessId self = definitions_.locations[location_.index()].process;
  const bool local =
      std::find(comm.members.begin(), comm.members.end(), self) != comm.members.end();
  return static_cast<uint32_t>(local ? comm.remote.size() : comm.members.size());
}

std::optional<MpiCollective> EventDecoder::collective(const OTF2_AttributeList* attributes,
                                                      OTF2_CollectiveOp op, OTF2_CommRef comm,
                                                      uint32_t root, uint64_t sent,
                                                      uint64_t received) {
  promises_.saw_collective();
  const CommRef* known = tables_.comms.find(comm);
  if (!known) {
    ++repairs_.unknown_peers;
    return std::nullopt;
  }
  MpiCollective collective;
  collective.op = collective_from_otf2(op);
  collective.comm = known->id;
  collective.bytes_sent = sent;
  collective.bytes_received = received;
  collective.sends_to = partners(attributes, tables_.sends_to);
  collective.receives_from = partners(attributes, tables_.receives_from);
  collective.is_root = root == static_cast<uint32_t>(OTF2_COLLECTIVE_ROOT_SELF);
  if (root < known->peers || (known->peers == 0 && root < peers_of(*known))) collective.root = root;
  uint8_t exact = 0;
  if (has(attributes, tables_.collective_op) &&
      OTF2_AttributeList_GetUint8(attributes, tables_.collective_op, &exact) == OTF2_SUCCESS &&
      exact <= static_cast<uint8_t>(CollectiveOp::other)) {
    collective.op = static_cast<CollectiveOp>(exact);
  }
  return collective;
}

void EventDecoder::metric(OTF2_TimeStamp time, OTF2_MetricRef metric,
                          std::span<const OTF2_Type> types, const OTF2_MetricValue* values) {
  const Time now = at(time);
  const MetricClassRef* known = tables_.metrics.find(metric);
  if (!known || known->factors.size() != types.size()) return sink_.other(now, "Metric");
  std::array<double, UINT8_MAX> converted;
  for (size_t i = 0; i < types.size(); ++i) {
    converted[i] = known->factors[i] * value_of(types[i], values[i]);
  }
  sink_.metrics(now, known->id, std::span(converted).first(types.size()));
}

std::optional<WindowId> EventDecoder::window(OTF2_RmaWinRef window,
                                             std::optional<uint32_t> target) {
  const WindowRef* known = tables_.windows.find(window);
  if (!known || (target && *target >= known->comm.peers && *target >= peers_of(known->comm))) {
    ++repairs_.unknown_objects;
    return std::nullopt;
  }
  return known->id;
}

std::optional<FileId> EventDecoder::file(OTF2_IoHandleRef handle) {
  const FileId* known = tables_.files.find(handle);
  if (known) return *known;
  ++repairs_.unknown_objects;
  return std::nullopt;
}

GroupId EventDecoder::group(OTF2_GroupRef group) const {
  const GroupId* known = tables_.groups.find(group);
  return known ? *known : GroupId::none();
}

RmaAssertions EventDecoder::rma_assertions(const OTF2_AttributeList* attributes) const {
  uint8_t value = 0;
  if (has(attributes, tables_.rma_assertions)) {
    OTF2_AttributeList_GetUint8(attributes, tables_.rma_assertions, &value);
  }
  return static_cast<RmaAssertions>(value);
}

RmaTraits EventDecoder::rma_traits() const {
  return open_.empty() ? RmaTraits{} : tables_.rma_traits[open_.back().index()];
}

GroupId EventDecoder::partners(const OTF2_AttributeList* attributes,
                               OTF2_AttributeRef attribute) const {
  OTF2_GroupRef partners = OTF2_UNDEFINED_GROUP;
  if (!has(attributes, attribute) ||
      OTF2_AttributeList_GetGroupRef(attributes, attribute, &partners) != OTF2_SUCCESS) {
    return GroupId::none();
  }
  return group(partners);
}

void EventDecoder::matching(const OTF2_AttributeList* attributes, MpiMessage& message) const {
  uint64_t probe = 0;
  if (has(attributes, tables_.partitioned)) {
    OTF2_AttributeList_GetUint32(attributes, tables_.partitioned, &message.partitioned);
  }
  if (has(attributes, tables_.matched_probe)) {
    OTF2_AttributeList_GetUint64(attributes, tables_.matched_probe, &probe);
    message.probe = MatchedProbe{probe};
  }
}

void EventDecoder::facts_of_call(OTF2_TimeStamp time, const OTF2_AttributeList* attributes) {
  uint64_t request = 0, bytes = 0;
  OTF2_CommRef comm = OTF2_UNDEFINED_COMM;
  uint32_t source = 0, tag = 0;
  if (has(attributes, tables_.ready_request)) {
    OTF2_AttributeList_GetUint64(attributes, tables_.ready_request, &request);
    sink_.mpi_isend_ready(at(time), RequestId{request});
  }
  if (!has(attributes, tables_.found_comm)) return;
  OTF2_AttributeList_GetCommRef(attributes, tables_.found_comm, &comm);
  OTF2_AttributeList_GetUint32(attributes, tables_.found_source, &source);
  OTF2_AttributeList_GetUint32(attributes, tables_.found_tag, &tag);
  OTF2_AttributeList_GetUint64(attributes, tables_.found_bytes, &bytes);
  message(time, attributes, comm, source, tag, bytes,
          [&](Time now, const MpiMessage& found) { sink_.mpi_probe(now, found); });
}

RegionInstance EventDecoder::instance(const OTF2_AttributeList* attributes) const {
  uint64_t value = 0;
  if (has(attributes, tables_.region_instance)) {
    OTF2_AttributeList_GetUint64(attributes, tables_.region_instance, &value);
  }
  return RegionInstance{value};
}

MutexKind EventDecoder::mutex_kind(const OTF2_AttributeList* attributes) const {
  uint8_t value = 0;
  if (has(attributes, tables_.mutex_kind) &&
      OTF2_AttributeList_GetUint8(attributes, tables_.mutex_kind, &value) == OTF2_SUCCESS &&
      value <= static_cast<uint8_t>(kLastMutexKind)) {
    return static_cast<MutexKind>(value);
  }
  return open_.empty() ? MutexKind::lock
                       : mutex_kind_from_otf2(tables_.roles[open_.back().index()]);
}

uint64_t EventDecoder::mutex_id(const OTF2_AttributeList* attributes, uint32_t lock) const {
  uint64_t value = lock;
  if (has(attributes, tables_.mutex_id)) {
    OTF2_AttributeList_GetUint64(attributes, tables_.mutex_id, &value);
  }
  return value;
}

void EventDecoder::finish(Losses& losses) {
  if (last_ == -kFarthest) last_ = 0;
  repairs_.left_open = open_.size();
  for (; !open_.empty(); open_.pop_back()) sink_.leave(Time::from_nanos(last_), open_.back());
  promises_.report(definitions_.processes.size() < 2, losses);
  losses.add(LossKind::times_backward, repairs_.backward_times);
  losses.add(LossKind::times_absurd, repairs_.far_times);
  losses.add(LossKind::leaves_without_enter, repairs_.leaves_without_enter);
  losses.add(LossKind::regions_never_left, repairs_.forced_leaves);
  losses.add(LossKind::regions_open_at_end, repairs_.left_open);
  losses.add(LossKind::records_of_unknown_regions, repairs_.unknown_regions);
  losses.add(LossKind::records_of_unknown_communicators, repairs_.unknown_peers);
  losses.add(LossKind::records_of_unknown_windows_and_files, repairs_.unknown_objects);
}

}  // namespace culprit::trace
