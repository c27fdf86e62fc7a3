// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The callbacks for global definitions: each copies one record and judges nothing.
#include <memory>

#include "trace/otf2/definitions.h"

namespace culprit::trace {

namespace {

constexpr OTF2_CallbackCode kGoOn = OTF2_CALLBACK_SUCCESS;

RawGlobalDefinitions& into(void* data) {
  return *static_cast<RawGlobalDefinitions*>(data);
}

OTF2_CallbackCode on_clock(void* data, uint64_t resolution, uint64_t offset, uint64_t,
                           uint64_t realtime) {
  into(data).resolution = resolution;
  into(data).offset = offset;
  if (realtime != uint64_t{OTF2_UNDEFINED_TIMESTAMP}) into(data).origin_realtime_ns = realtime;
  return kGoOn;
}

OTF2_CallbackCode on_string(void* data, OTF2_StringRef self, const char* text) {
  into(data).duplicates += !into(data).strings.add(self, text ? text : "");
  return kGoOn;
}

OTF2_CallbackCode on_attribute(void* data, OTF2_AttributeRef self, OTF2_StringRef name,
                               OTF2_StringRef, OTF2_Type) {
  into(data).attributes.push_back({self, name});
  return kGoOn;
}

OTF2_CallbackCode on_parameter(void* data, OTF2_ParameterRef self, OTF2_StringRef name,
                               OTF2_ParameterType) {
  into(data).parameters.push_back({self, name});
  return kGoOn;
}

OTF2_CallbackCode on_system_node(void* data, OTF2_SystemTreeNodeRef self, OTF2_StringRef name,
                                 OTF2_StringRef class_name, OTF2_SystemTreeNodeRef parent) {
  into(data).duplicates += !into(data).system_nodes.add(self, {name, class_name, parent});
  return kGoOn;
}

OTF2_CallbackCode on_system_node_domain(void* data, OTF2_SystemTreeNodeRef node,
                                        OTF2_SystemTreeDomain domain) {
  if (domain == OTF2_SYSTEM_TREE_DOMAIN_ACCELERATOR_DEVICE) into(data).device_nodes.push_back(node);
  return kGoOn;
}

OTF2_CallbackCode on_system_node_property(void* data, OTF2_SystemTreeNodeRef node,
                                          OTF2_StringRef name, OTF2_Type type,
                                          OTF2_AttributeValue value) {
  const std::string* text = into(data).strings.find(name);
  if (text && *text == kIdentityProperty && type == OTF2_TYPE_STRING) {
    into(data).device_identities.add(node, value.stringRef);
  }
  return kGoOn;
}

OTF2_CallbackCode on_location_property(void* data, OTF2_LocationRef location, OTF2_StringRef name,
                                       OTF2_Type type, OTF2_AttributeValue value) {
  const std::string* text = into(data).strings.find(name);
  if (text && *text == kQueueProperty && type == OTF2_TYPE_UINT32) {
    into(data).queues.emplace(location, value.uint32);
  }
  return kGoOn;
}

OTF2_CallbackCode on_location_group(void* data, OTF2_LocationGroupRef self, OTF2_StringRef name,
                                    OTF2_LocationGroupType type, OTF2_SystemTreeNodeRef parent,
                                    OTF2_LocationGroupRef creator) {
  into(data).location_groups.push_back({self, name, type, parent, creator});
  return kGoOn;
}

OTF2_CallbackCode on_location(void* data, OTF2_LocationRef self, OTF2_StringRef name,
                              OTF2_LocationType type, uint64_t events,
                              OTF2_LocationGroupRef group) {
  into(data).locations.push_back({self, name, type, events, group});
  return kGoOn;
}

OTF2_CallbackCode on_region(void* data, OTF2_RegionRef self, OTF2_StringRef name, OTF2_StringRef,
                            OTF2_StringRef, OTF2_RegionRole role, OTF2_Paradigm paradigm,
                            OTF2_RegionFlag flags, OTF2_StringRef file, uint32_t line, uint32_t) {
  into(data).regions.push_back({self, name, role, paradigm, flags, file, line});
  return kGoOn;
}

OTF2_CallbackCode on_group(void* data, OTF2_GroupRef self, OTF2_StringRef name, OTF2_GroupType type,
                           OTF2_Paradigm paradigm, OTF2_GroupFlag flags, uint32_t count,
                           const uint64_t* members) {
  RawMemberGroup group{self, name, type, paradigm, flags, {members, members + count}};
  if (type == OTF2_GROUP_TYPE_COMM_LOCATIONS) into(data).comm_locations.push_back(group);
  if (type == OTF2_GROUP_TYPE_COMM_GROUP && paradigm == OTF2_PARADIGM_MPI) {
    into(data).comm_groups.push_back(self);
  }
  into(data).duplicates += !into(data).groups.add(self, std::move(group));
  return kGoOn;
}

OTF2_CallbackCode on_comm(void* data, OTF2_CommRef self, OTF2_StringRef name, OTF2_GroupRef group,
                          OTF2_CommRef, OTF2_CommFlag) {
  into(data).comms.push_back({self, name, group, OTF2_UNDEFINED_GROUP});
  return kGoOn;
}

OTF2_CallbackCode on_inter_comm(void* data, OTF2_CommRef self, OTF2_StringRef name,
                                OTF2_GroupRef group, OTF2_GroupRef remote, OTF2_CommRef,
                                OTF2_CommFlag) {
  into(data).comms.push_back({self, name, group, remote});
  return kGoOn;
}

OTF2_CallbackCode on_rma_win(void* data, OTF2_RmaWinRef self, OTF2_StringRef name,
                             OTF2_CommRef comm, OTF2_RmaWinFlag) {
  into(data).windows.push_back({self, name, comm});
  return kGoOn;
}

OTF2_CallbackCode on_grid_dimension(void* data, OTF2_CartDimensionRef self, OTF2_StringRef,
                                    uint32_t size, OTF2_CartPeriodicity periodicity) {
  const GridDimension dimension{size, periodicity == OTF2_CART_PERIODIC_TRUE};
  into(data).duplicates += !into(data).grid_dimensions.add(self, dimension);
  return kGoOn;
}

OTF2_CallbackCode on_grid(void* data, OTF2_CartTopologyRef self, OTF2_StringRef name,
                          OTF2_CommRef comm, uint8_t count,
                          const OTF2_CartDimensionRef* dimensions) {
  into(data).grids.push_back({self, name, comm, {dimensions, dimensions + count}});
  return kGoOn;
}

OTF2_CallbackCode on_grid_place(void* data, OTF2_CartTopologyRef grid, uint32_t rank, uint8_t count,
                                const uint32_t* coordinates) {
  into(data).grid_places.push_back({grid, rank, {coordinates, coordinates + count}});
  return kGoOn;
}

OTF2_CallbackCode on_io_paradigm(void* data, OTF2_IoParadigmRef self, OTF2_StringRef identification,
                                 OTF2_StringRef, OTF2_IoParadigmClass, OTF2_IoParadigmFlag, uint8_t,
                                 const OTF2_IoParadigmProperty*, const OTF2_Type*,
                                 const OTF2_AttributeValue*) {
  into(data).duplicates += !into(data).io_paradigms.add(self, identification);
  return kGoOn;
}

/// Files and directories: they share their references.
OTF2_CallbackCode on_io_file(void* data, OTF2_IoFileRef self, OTF2_StringRef name,
                             OTF2_SystemTreeNodeRef) {
  into(data).duplicates += !into(data).io_files.add(self, name);
  return kGoOn;
}

OTF2_CallbackCode on_io_handle(void* data, OTF2_IoHandleRef self, OTF2_StringRef name,
                               OTF2_IoFileRef file, OTF2_IoParadigmRef paradigm, OTF2_IoHandleFlag,
                               OTF2_CommRef comm, OTF2_IoHandleRef) {
  into(data).io_handles.push_back({self, name, file, paradigm, comm});
  return kGoOn;
}

OTF2_CallbackCode on_calling_context(void* data, OTF2_CallingContextRef self, OTF2_RegionRef region,
                                     OTF2_SourceCodeLocationRef, OTF2_CallingContextRef) {
  into(data).calling_contexts.push_back({self, region});
  return kGoOn;
}

OTF2_CallbackCode on_metric_member(void* data, OTF2_MetricMemberRef self, OTF2_StringRef name,
                                   OTF2_StringRef, OTF2_MetricType, OTF2_MetricMode mode, OTF2_Type,
                                   OTF2_Base base, int64_t exponent, OTF2_StringRef unit) {
  into(data).duplicates += !into(data).metric_members.add(self, {name, unit, mode, base, exponent});
  return kGoOn;
}

OTF2_CallbackCode on_metric_class(void* data, OTF2_MetricRef self, uint8_t count,
                                  const OTF2_MetricMemberRef* members,
                                  OTF2_MetricOccurrence occurrence, OTF2_RecorderKind) {
  into(data).metric_classes.push_back({self, occurrence, {members, members + count}});
  return kGoOn;
}

struct DeleteCallbacks {
  void operator()(OTF2_GlobalDefReaderCallbacks* c) const {
    OTF2_GlobalDefReaderCallbacks_Delete(c);
  }
};

}  // namespace

Result<RawGlobalDefinitions> collect_definitions(OTF2_Reader* reader, uint64_t most) {
  RawGlobalDefinitions raw;
  OTF2_GlobalDefReader* definitions = OTF2_Reader_GetGlobalDefReader(reader);
  if (!definitions) return Error{"its global definitions are missing or unreadable"};

  std::unique_ptr<OTF2_GlobalDefReaderCallbacks, DeleteCallbacks> callbacks(
      OTF2_GlobalDefReaderCallbacks_New());
  auto* c = callbacks.get();
  OTF2_GlobalDefReaderCallbacks_SetClockPropertiesCallback(c, on_clock);
  OTF2_GlobalDefReaderCallbacks_SetStringCallback(c, on_string);
  OTF2_GlobalDefReaderCallbacks_SetAttributeCallback(c, on_attribute);
  OTF2_GlobalDefReaderCallbacks_SetParameterCallback(c, on_parameter);
  OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeCallback(c, on_system_node);
  OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodeDomainCallback(c, on_system_node_domain);
  OTF2_GlobalDefReaderCallbacks_SetSystemTreeNodePropertyCallback(c, on_system_node_property);
  OTF2_GlobalDefReaderCallbacks_SetLocationPropertyCallback(c, on_location_property);
  OTF2_GlobalDefReaderCallbacks_SetLocationGroupCallback(c, on_location_group);
  OTF2_GlobalDefReaderCallbacks_SetLocationCallback(c, on_location);
  OTF2_GlobalDefReaderCallbacks_SetRegionCallback(c, on_region);
  OTF2_GlobalDefReaderCallbacks_SetGroupCallback(c, on_group);
  OTF2_GlobalDefReaderCallbacks_SetCommCallback(c, on_comm);
  OTF2_GlobalDefReaderCallbacks_SetInterCommCallback(c, on_inter_comm);
  OTF2_GlobalDefReaderCallbacks_SetRmaWinCallback(c, on_rma_win);
  OTF2_GlobalDefReaderCallbacks_SetCartDimensionCallback(c, on_grid_dimension);
  OTF2_GlobalDefReaderCallbacks_SetCartTopologyCallback(c, on_grid);
  OTF2_GlobalDefReaderCallbacks_SetCartCoordinateCallback(c, on_grid_place);
  OTF2_GlobalDefReaderCallbacks_SetIoParadigmCallback(c, on_io_paradigm);
  OTF2_GlobalDefReaderCallbacks_SetIoRegularFileCallback(c, on_io_file);
  OTF2_GlobalDefReaderCallbacks_SetIoDirectoryCallback(c, on_io_file);
  OTF2_GlobalDefReaderCallbacks_SetIoHandleCallback(c, on_io_handle);
  OTF2_GlobalDefReaderCallbacks_SetCallingContextCallback(c, on_calling_context);
  OTF2_GlobalDefReaderCallbacks_SetMetricMemberCallback(c, on_metric_member);
  OTF2_GlobalDefReaderCallbacks_SetMetricClassCallback(c, on_metric_class);
  OTF2_Reader_RegisterGlobalDefCallbacks(reader, definitions, c, &raw);

  uint64_t promised = 0;
  uint64_t read = 0;
  OTF2_Reader_GetNumberOfGlobalDefinitions(reader, &promised);
  const OTF2_ErrorCode status = OTF2_Reader_ReadGlobalDefinitions(reader, definitions, most, &read);
  OTF2_Reader_CloseGlobalDefReader(reader, definitions);
  if (status != OTF2_SUCCESS || read < promised || read == most) {
    return Error{"its definitions are damaged or truncated: " + std::to_string(read) + " of " +
                 std::to_string(promised) + " could be read"};
  }
  return raw;
}

}  // namespace culprit::trace
