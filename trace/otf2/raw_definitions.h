// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The definitions of an archive as they were read, by OTF2's references.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace culprit::trace {

/// Maps an OTF2 reference to culprit's object. Archives number densely, so this is one vector
/// access; a damaged archive may not, then the other references are in a hash map.
template <class T>
class RefTable {
 public:
  /// False if `ref` is taken; the first definition stays.
  bool add(uint32_t ref, T value) {
    if (find(ref)) return false;
    if (ref > dense_.size() + kGap) return sparse_.emplace(ref, std::move(value)).second;
    if (ref >= dense_.size()) dense_.resize(size_t{ref} + 1);
    dense_[ref] = {std::move(value), true};
    return true;
  }
  const T* find(uint32_t ref) const {
    if (ref < dense_.size() && dense_[ref].second) return &dense_[ref].first;
    if (sparse_.empty()) return nullptr;
    auto it = sparse_.find(ref);
    return it == sparse_.end() ? nullptr : &it->second;
  }

 private:
  static constexpr size_t kGap = 4096;
  std::vector<std::pair<T, bool>> dense_;
  std::unordered_map<uint32_t, T> sparse_;
};

struct RawSystemNode {
  OTF2_StringRef name, class_name;
  OTF2_SystemTreeNodeRef parent;
};
struct RawLocationGroup {
  OTF2_LocationGroupRef ref;
  OTF2_StringRef name;
  OTF2_LocationGroupType type;
  OTF2_SystemTreeNodeRef parent;
  OTF2_LocationGroupRef creator;
};
struct RawLocation {
  OTF2_LocationRef ref;
  OTF2_StringRef name;
  OTF2_LocationType type;
  uint64_t events;
  OTF2_LocationGroupRef group;
};
struct RawRegion {
  OTF2_RegionRef ref;
  OTF2_StringRef name;
  OTF2_RegionRole role;
  OTF2_Paradigm paradigm;
  OTF2_RegionFlag flags;
  OTF2_StringRef file;
  uint32_t line;
};
struct RawMemberGroup {
  OTF2_GroupRef ref = OTF2_UNDEFINED_GROUP;
  OTF2_StringRef name = OTF2_UNDEFINED_STRING;
  OTF2_GroupType type = OTF2_GROUP_TYPE_UNKNOWN;
  OTF2_Paradigm paradigm = OTF2_PARADIGM_UNKNOWN;
  OTF2_GroupFlag flags = OTF2_GROUP_FLAG_NONE;
  std::vector<uint64_t> members;
};
struct RawComm {
  OTF2_CommRef ref;
  OTF2_StringRef name;
  OTF2_GroupRef group;   ///< group A of an inter-communicator
  OTF2_GroupRef remote;  ///< group B, OTF2_UNDEFINED_GROUP if there is none
};
struct RawRmaWin {
  OTF2_RmaWinRef ref;
  OTF2_StringRef name;
  OTF2_CommRef comm;
};
struct RawIoHandle {
  OTF2_IoHandleRef ref;
  OTF2_StringRef name;
  OTF2_IoFileRef file;
  OTF2_IoParadigmRef paradigm;
  OTF2_CommRef comm;
};
struct RawCallingContext {
  OTF2_CallingContextRef ref;
  OTF2_RegionRef region;
};
struct RawAttribute {
  OTF2_AttributeRef ref;
  OTF2_StringRef name;
};

struct RawMetricMember {
  OTF2_StringRef name = OTF2_UNDEFINED_STRING;
  OTF2_StringRef unit = OTF2_UNDEFINED_STRING;
  OTF2_MetricMode mode = OTF2_METRIC_ABSOLUTE_POINT;
  OTF2_Base base = OTF2_BASE_DECIMAL;
  int64_t exponent = 0;
};
struct RawMetricClass {
  OTF2_MetricRef ref;
  OTF2_MetricOccurrence occurrence;
  std::vector<OTF2_MetricMemberRef> members;
};
struct RawGrid {
  OTF2_CartTopologyRef ref;
  OTF2_StringRef name;
  OTF2_CommRef comm;
  std::vector<OTF2_CartDimensionRef> dimensions;
};
struct RawGridPlace {
  OTF2_CartTopologyRef grid;
  uint32_t rank;
  std::vector<uint32_t> coordinates;
};
struct RawParameter {
  OTF2_ParameterRef ref;
  OTF2_StringRef name;
};

/// The global definitions as they were read.
struct RawGlobalDefinitions {
  uint64_t resolution = 1'000'000'000;
  uint64_t offset = 0;
  uint64_t origin_realtime_ns = 0;  ///< CLOCK_REALTIME at `offset`; 0: unknown
  RefTable<std::string> strings;
  RefTable<RawSystemNode> system_nodes;
  std::vector<RawLocationGroup> location_groups;
  std::vector<RawLocation> locations;
  std::vector<RawRegion> regions;
  RefTable<RawMemberGroup> groups;
  std::vector<RawMemberGroup> comm_locations;  ///< the groups of that type, one per paradigm
  std::vector<RawComm> comms;
  std::vector<OTF2_GroupRef> comm_groups;  ///< those of MPI's ranks
  std::vector<RawRmaWin> windows;
  RefTable<GridDimension> grid_dimensions;
  std::vector<RawGrid> grids;
  std::vector<RawGridPlace> grid_places;
  RefTable<OTF2_StringRef> io_paradigms;  ///< what identifies them
  RefTable<OTF2_StringRef> io_files;      ///< their names
  std::vector<RawIoHandle> io_handles;
  std::vector<RawAttribute> attributes;
  std::vector<RawParameter> parameters;
  std::vector<RawCallingContext> calling_contexts;
  RefTable<RawMetricMember> metric_members;
  std::vector<RawMetricClass> metric_classes;
  std::vector<OTF2_SystemTreeNodeRef> device_nodes;
  RefTable<OTF2_StringRef> device_identities;   ///< by node
  std::map<OTF2_LocationRef, uint32_t> queues;  ///< of streams, where known
  uint64_t duplicates = 0;                      ///< definitions of a reference that was taken
};

}  // namespace culprit::trace
