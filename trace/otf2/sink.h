// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The events of one location on their way into an archive. References are ids as they are, but for
// the thread team: its communicator is numbered only when all others are known, so events refer to
// kLocalTeam, and the location's mapping table says what that is.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "trace/events.h"
#include "trace/otf2/devices.h"

namespace culprit::trace {

/// The thread team of the location's process, in its events.
inline constexpr OTF2_CommRef kLocalTeam = 0x40000000;

/// Groups that events refer to follow the one of all MPI locations, by GroupId.
inline constexpr OTF2_GroupRef kFirstEventGroup = 1;

inline OTF2_GroupRef group_ref(GroupId group) {
  if (!group.valid()) return OTF2_UNDEFINED_GROUP;
  return kFirstEventGroup + static_cast<OTF2_GroupRef>(group.index());
}

/// References of the attributes that culprit adds to events.
enum : OTF2_AttributeRef {
  kRegionInstanceRef = 0,
  kMutexKindRef = 1,
  kMutexIdRef = 2,
  kCollectiveOpRef = 3,
  kRmaAssertionsRef = 4,
  kSendsToRef = 5,
  kReceivesFromRef = 6,
  kPartitionedRef = 7,
  kReadyRequestRef = 8,
  kMatchedProbeRef = 9,
  kFoundCommRef = 10,
  kFoundSourceRef = 11,
  kFoundTagRef = 12,
  kFoundBytesRef = 13,
  kAttributeCount = 14,
  kFirstDeviceAttribute = 14,
};
inline OTF2_AttributeRef device_ref(DeviceAttribute attribute) {
  return kFirstDeviceAttribute + static_cast<OTF2_AttributeRef>(attribute);
}

/// References of the parameters that are facts: in their order, from 0.
inline OTF2_ParameterRef fact_ref(Fact fact) {
  return static_cast<OTF2_ParameterRef>(fact);
}
/// The parameter for the numbers of iterations comes after them.
inline constexpr OTF2_ParameterRef kIterationRef = kFactCount;
/// The parameters for devices follow those.
inline OTF2_ParameterRef device_ref(DeviceParameter parameter) {
  return kIterationRef + 1 + static_cast<OTF2_ParameterRef>(parameter);
}

/// The facts about a location once its events are written.
struct WrittenLocation {
  uint64_t events = 0;
  uint64_t last = 0;    ///< time of its last event
  bool team = false;    ///< refers to its thread team
  bool failed = false;  ///< an event could not be written (disk full)
};

class Otf2Sink final : public EventSink {
 public:
  /// `writer` belongs to the archive. `done` is filled when the sink goes.
  Otf2Sink(OTF2_Archive* archive, OTF2_EvtWriter* writer, WrittenLocation& done);
  ~Otf2Sink() override;
  Otf2Sink(const Otf2Sink&) = delete;
  Otf2Sink& operator=(const Otf2Sink&) = delete;

#define EVENT CULPRIT_OVERRIDES_EVENT
#include "trace/events.def"

 private:
  struct DeleteAttributes {
    void operator()(OTF2_AttributeList* list) const { OTF2_AttributeList_Delete(list); }
  };

  OTF2_TimeStamp stamp(Time time);
  void write_pending();
  void check(OTF2_ErrorCode status) { done_.failed |= status != OTF2_SUCCESS; }
  OTF2_AttributeList* with(RegionInstance instance);
  OTF2_AttributeList* with(const MpiMessage& message);
  OTF2_AttributeList* with(const MpiCollective& collective);
  OTF2_AttributeList* with_facts_of_call();
  OTF2_AttributeList* with(MutexKind kind, uint64_t lock);
  OTF2_AttributeList* with(RmaAssertions assertions);
  OTF2_TimeStamp begin_rma_collective(Time time);
  void device_parameter(Time time, DeviceParameter what, uint64_t value,
                        OTF2_AttributeList* attributes);

  OTF2_Archive* archive_;
  OTF2_EvtWriter* writer_;
  WrittenLocation& done_;
  std::unique_ptr<OTF2_AttributeList, DeleteAttributes> attributes_;
  /// The last event if it was an enter: a collective right behind it begins where its call does.
  std::optional<std::pair<OTF2_TimeStamp, OTF2_RegionRef>> pending_enter_;
  bool in_rma_collective_ = false;  ///< its begin is written, its end not yet
  /// Facts that OTF2 has no record for; they go onto the leave of the call in which they were
  /// reported.
  struct FactsOfCall {
    size_t depth = 0;  ///< of that call; 0: there are none
    std::optional<RequestId> ready;
    std::optional<MpiMessage> found;
  };
  size_t depth_ = 0;
  FactsOfCall facts_;
};

}  // namespace culprit::trace
