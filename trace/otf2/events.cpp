// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The colder half of the decoder: times of other resolutions, damage, attributes, collectives.
#include "trace/otf2/events.h"

#include <algorithm>
#include <array>

#include "trace/otf2/names.h"

namespace culprit::trace {

namespace {

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
                          const Attributes& attributes) {
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

std::optional<MpiCollective> EventDecoder::collective(const Attributes& attributes,
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
  const auto exact = attributes.value(tables_.collective_op, OTF2_TYPE_UINT8);
  if (exact && *exact <= static_cast<uint8_t>(CollectiveOp::other)) {
    collective.op = static_cast<CollectiveOp>(*exact);
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

RmaAssertions EventDecoder::rma_assertions(const Attributes& attributes) const {
  return static_cast<RmaAssertions>(
      attributes.value(tables_.rma_assertions, OTF2_TYPE_UINT8).value_or(0));
}

RmaTraits EventDecoder::rma_traits() const {
  return open_.empty() ? RmaTraits{} : tables_.rma_traits[open_.back().index()];
}

GroupId EventDecoder::partners(const Attributes& attributes, OTF2_AttributeRef attribute) const {
  const auto partners = attributes.value(attribute, OTF2_TYPE_GROUP);
  return partners ? group(static_cast<OTF2_GroupRef>(*partners)) : GroupId::none();
}

void EventDecoder::matching(const Attributes& attributes, MpiMessage& message) const {
  message.partitioned =
      static_cast<uint32_t>(attributes.value(tables_.partitioned, OTF2_TYPE_UINT32).value_or(0));
  message.probe =
      MatchedProbe{attributes.value(tables_.matched_probe, OTF2_TYPE_UINT64).value_or(0)};
}

void EventDecoder::facts_of_call(OTF2_TimeStamp time, const Attributes& attributes) {
  const auto number = [&](OTF2_AttributeRef ref, OTF2_Type type, uint64_t otherwise) {
    return attributes.value(ref, type).value_or(otherwise);
  };
  const auto small = [&](OTF2_AttributeRef ref, OTF2_Type type, uint32_t otherwise) {
    return static_cast<uint32_t>(number(ref, type, otherwise));
  };
  if (attributes.has(tables_.ready_request)) {
    const uint64_t request = number(tables_.ready_request, OTF2_TYPE_UINT64, 0);
    sink_.mpi_isend_ready(at(time), RequestId{request});
  }
  if (!attributes.has(tables_.found_comm)) return;
  message(time, attributes, small(tables_.found_comm, OTF2_TYPE_COMM, OTF2_UNDEFINED_COMM),
          small(tables_.found_source, OTF2_TYPE_UINT32, 0),
          small(tables_.found_tag, OTF2_TYPE_UINT32, 0),
          number(tables_.found_bytes, OTF2_TYPE_UINT64, 0),
          [&](Time now, const MpiMessage& found) { sink_.mpi_probe(now, found); });
}

RegionInstance EventDecoder::instance(const Attributes& attributes) const {
  return RegionInstance{attributes.value(tables_.region_instance, OTF2_TYPE_UINT64).value_or(0)};
}

MutexKind EventDecoder::mutex_kind(const Attributes& attributes) const {
  const auto kind = attributes.value(tables_.mutex_kind, OTF2_TYPE_UINT8);
  if (kind && *kind <= static_cast<uint8_t>(kLastMutexKind)) return static_cast<MutexKind>(*kind);
  return open_.empty() ? MutexKind::lock
                       : mutex_kind_from_otf2(tables_.roles[open_.back().index()]);
}

uint64_t EventDecoder::mutex_id(const Attributes& attributes, uint32_t lock) const {
  return attributes.value(tables_.mutex_id, OTF2_TYPE_UINT64).value_or(lock);
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
