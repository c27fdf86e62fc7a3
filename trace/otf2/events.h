// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Turns the event records of one location into calls on an EventSink, and repairs on the way what a
// sink may rely on: times do not decrease, every leave closes the region entered last, every
// reference is one of the Definitions. Each repair is counted. A hot path: per event one table
// access, one comparison of times, one virtual call.
#pragma once

#include <otf2/otf2.h>

#include <optional>
#include <span>
#include <vector>

#include "base/losses.h"
#include "trace/events.h"
#include "trace/otf2/definitions.h"
#include "trace/otf2/records/attributes.h"
#include "trace/promises.h"

namespace culprit::trace {

class EventDecoder {
 public:
  EventDecoder(const ResolvedDefinitions& archive, LocationId location, EventSink& sink);

  /// Leaves all open regions at the last time, and reports the repairs.
  void finish(Losses& losses);

  // One function per kind of record (records/handle.h).
  void enter(OTF2_TimeStamp time, OTF2_RegionRef region) {
    push(time, tables_.regions.find(region));
  }
  void leave(OTF2_TimeStamp time, OTF2_RegionRef region, const Attributes& attributes) {
    if (calls_have_facts_ && !attributes.empty()) facts_of_call(time, attributes);
    pop(time, tables_.regions.find(region));
  }
  void context_enter(OTF2_TimeStamp time, OTF2_CallingContextRef context) {
    push(time, tables_.calling_contexts.find(context));
  }
  void context_leave(OTF2_TimeStamp time, OTF2_CallingContextRef context) {
    pop(time, tables_.calling_contexts.find(context));
  }
  /// Calls `deliver(time, message)` if the record refers to a known communicator and member.
  template <class Deliver>
  void message(OTF2_TimeStamp time, const Attributes& attributes, OTF2_CommRef comm, uint32_t peer,
               uint32_t tag, uint64_t bytes, Deliver deliver);
  /// Nothing if the record refers to an unknown communicator.
  std::optional<MpiCollective> collective(const Attributes& attributes, OTF2_CollectiveOp op,
                                          OTF2_CommRef comm, uint32_t root, uint64_t sent,
                                          uint64_t received);
  void metric(OTF2_TimeStamp time, OTF2_MetricRef metric, std::span<const OTF2_Type> types,
              const OTF2_MetricValue* values);
  /// Nothing if the archive does not define it; `target`, where the record has one, is a member.
  std::optional<WindowId> window(OTF2_RmaWinRef window,
                                 std::optional<uint32_t> target = std::nullopt);
  std::optional<FileId> file(OTF2_IoHandleRef handle);
  GroupId group(OTF2_GroupRef group) const;
  RmaAssertions rma_assertions(const Attributes& attributes) const;
  /// The traits of the innermost region.
  RmaTraits rma_traits() const;
  RegionInstance instance(const Attributes& attributes) const;
  MutexKind mutex_kind(const Attributes& attributes) const;
  uint64_t mutex_id(const Attributes& attributes, uint32_t lock) const;

  /// nullptr: a parameter of the program.
  const Fact* fact(OTF2_ParameterRef parameter) const { return tables_.facts.find(parameter); }
  bool is_iteration(OTF2_ParameterRef parameter) const {
    return parameter == tables_.iteration && parameter != OTF2_UNDEFINED_PARAMETER;
  }

  /// False if it is no parameter for devices.
  bool device(OTF2_TimeStamp time, OTF2_ParameterRef parameter, uint64_t value,
              const Attributes& attributes);

  Time at(OTF2_TimeStamp ticks);
  EventSink& sink() { return sink_; }
  Promises& promises() { return promises_; }

 private:
  /// Sums of two times stay within 64 bits; a date beyond (73 years into the run) is damage.
  static constexpr int64_t kFarthest = int64_t{1} << 61;

  int64_t nanos_from(OTF2_TimeStamp ticks) const;
  void push(OTF2_TimeStamp time, const RegionId* region);
  void pop(OTF2_TimeStamp time, const RegionId* region);
  void pop_misnested(Time time, RegionId region);
  void keep_promise(Time time, Promise promise);
  Time repaired(int64_t nanos);
  uint32_t peers_of(const CommRef& comm) const;
  /// Facts for which OTF2 has no record come with the leave of the call.
  void facts_of_call(OTF2_TimeStamp time, const Attributes& attributes);
  void matching(const Attributes& attributes, MpiMessage& message) const;
  GroupId partners(const Attributes& attributes, OTF2_AttributeRef attribute) const;

  const Otf2Tables& tables_;
  const Definitions& definitions_;
  const LocationId location_;
  EventSink& sink_;
  const bool nanosecond_ticks_;
  const bool calls_have_facts_;
  const bool messages_have_facts_;
  int64_t last_;
  std::vector<RegionId> open_;
  Promises promises_;
  DeviceDecoder devices_;

  struct Repairs {
    uint64_t backward_times = 0, far_times = 0;
    uint64_t leaves_without_enter = 0, forced_leaves = 0, left_open = 0;
    uint64_t unknown_regions = 0, unknown_peers = 0, unknown_objects = 0;
  } repairs_;
};

inline Time EventDecoder::at(OTF2_TimeStamp ticks) {
  const int64_t nanos =
      nanosecond_ticks_ ? static_cast<int64_t>(ticks - tables_.offset) : nanos_from(ticks);
  if (nanos < last_ || nanos > kFarthest) return repaired(nanos);
  last_ = nanos;
  return Time::from_nanos(nanos);
}

inline void EventDecoder::push(OTF2_TimeStamp time, const RegionId* region) {
  const Time now = at(time);
  if (!region) {
    ++repairs_.unknown_regions;
    return;
  }
  open_.push_back(*region);
  sink_.enter(now, *region);
}

inline void EventDecoder::pop(OTF2_TimeStamp time, const RegionId* region) {
  const Time now = at(time);
  if (!region) {
    ++repairs_.unknown_regions;
  } else if (!open_.empty() && open_.back() == *region) {
    const Promise promise = tables_.promises[region->index()];
    if (promise != Promise::none) keep_promise(now, promise);
    open_.pop_back();
    sink_.leave(now, *region);
  } else {
    pop_misnested(now, *region);
  }
}

template <class Deliver>
void EventDecoder::message(OTF2_TimeStamp time, const Attributes& attributes, OTF2_CommRef comm,
                           uint32_t peer, uint32_t tag, uint64_t bytes, Deliver deliver) {
  const Time now = at(time);
  promises_.saw_message();
  const CommRef* known = tables_.comms.find(comm);
  if (!known || (peer >= known->peers && peer >= peers_of(*known))) {
    ++repairs_.unknown_peers;
    return;
  }
  MpiMessage message{known->id, peer, static_cast<int32_t>(tag), bytes};
  if (messages_have_facts_ && !attributes.empty()) matching(attributes, message);
  deliver(now, message);
}

}  // namespace culprit::trace
