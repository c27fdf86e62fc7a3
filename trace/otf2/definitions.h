// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// From an archive's global definitions to trace::Definitions, in two steps. collect() copies the
// records as they come, because an archive may refer to a string or group before it defines it.
// resolve() then turns references into ids, orders processes by rank and threads by number, and
// counts what cannot be used. What the event callbacks look up afterwards is in Otf2Tables.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/losses.h"
#include "base/result.h"
#include "trace/definitions.h"
#include "trace/events.h"
#include "trace/otf2/devices.h"
#include "trace/otf2/raw_definitions.h"
#include "trace/promises.h"

namespace culprit::trace {

/// A communicator as an event refers to it.
struct CommRef {
  CommId id;
  uint32_t peers = 0;  ///< ranks below this are members; 0: an inter-communicator, look at the side
};

/// A metric class whose values come with enters and leaves. The factors scale them to whole units.
struct MetricClassRef {
  MetricSetId id;
  std::vector<double> factors;  ///< by member
};

/// A window as an event refers to it.
struct WindowRef {
  WindowId id;
  CommRef comm;
};

/// Facts about one-sided synchronisation that follow from a region's name.
struct RmaTraits {
  RmaEpoch epoch = RmaEpoch::other;
  RmaSyncKind sync = RmaSyncKind::memory;
};

/// The meaning of an event's references and ticks.
struct Otf2Tables {
  uint64_t resolution = 1'000'000'000;
  uint64_t offset = 0;
  RefTable<RegionId> regions;
  std::vector<OTF2_RegionRole> roles;  ///< by RegionId, as OTF2 has them
  std::vector<Promise> promises;       ///< by RegionId
  RefTable<CommRef> comms;
  std::vector<RmaTraits> rma_traits;  ///< by RegionId
  RefTable<GroupId> groups;
  RefTable<WindowRef> windows;
  RefTable<FileId> files;
  RefTable<RegionId> calling_contexts;
  RefTable<MetricClassRef> metrics;
  RefTable<Fact> facts;  ///< by reference of the parameter
  DeviceTable devices;
  OTF2_AttributeRef region_instance = OTF2_UNDEFINED_ATTRIBUTE;
  OTF2_AttributeRef mutex_kind = OTF2_UNDEFINED_ATTRIBUTE;
  OTF2_AttributeRef mutex_id = OTF2_UNDEFINED_ATTRIBUTE;
  OTF2_AttributeRef collective_op = OTF2_UNDEFINED_ATTRIBUTE;
  OTF2_AttributeRef rma_assertions = OTF2_UNDEFINED_ATTRIBUTE;
  OTF2_ParameterRef iteration = OTF2_UNDEFINED_PARAMETER;
  OTF2_AttributeRef sends_to = OTF2_UNDEFINED_ATTRIBUTE;
  OTF2_AttributeRef receives_from = OTF2_UNDEFINED_ATTRIBUTE;
  OTF2_AttributeRef partitioned = OTF2_UNDEFINED_ATTRIBUTE;
  OTF2_AttributeRef ready_request = OTF2_UNDEFINED_ATTRIBUTE;
  OTF2_AttributeRef matched_probe = OTF2_UNDEFINED_ATTRIBUTE;
  OTF2_AttributeRef found_comm = OTF2_UNDEFINED_ATTRIBUTE;
  OTF2_AttributeRef found_source = OTF2_UNDEFINED_ATTRIBUTE;
  OTF2_AttributeRef found_tag = OTF2_UNDEFINED_ATTRIBUTE;
  OTF2_AttributeRef found_bytes = OTF2_UNDEFINED_ATTRIBUTE;
};

/// Reads all global definitions of `reader`. Error: fewer than the anchor promises.
Result<RawGlobalDefinitions> collect_definitions(OTF2_Reader* reader, uint64_t most);

struct ResolvedDefinitions {
  Definitions definitions;
  Otf2Tables tables;
};

/// Unusable definitions are left out and counted in `losses`.
ResolvedDefinitions resolve_definitions(const RawGlobalDefinitions& raw, Losses& losses);

}  // namespace culprit::trace
