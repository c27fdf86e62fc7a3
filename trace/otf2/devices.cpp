// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Attributes are defined by name, and read by name; one that is missing has its default.
#include "trace/otf2/devices.h"

#include <algorithm>

#include "trace/otf2/raw_definitions.h"

namespace culprit::trace {

namespace {

std::string text(const RawGlobalDefinitions& raw, OTF2_StringRef ref) {
  const std::string* found = raw.strings.find(ref);
  return found ? *found : std::string();
}

/// The machine's node above, by its class or else the nearest.
std::string node_above(const RawGlobalDefinitions& raw, OTF2_SystemTreeNodeRef ref) {
  constexpr int kDeepest = 64;  // a damaged tree may be a ring
  std::string name;
  for (int depth = 0; depth < kDeepest; ++depth) {
    const RawSystemNode* node = raw.system_nodes.find(ref);
    if (!node) break;
    if (name.empty() || text(raw, node->class_name) == "node") name = text(raw, node->name);
    if (text(raw, node->class_name) == "node") break;
    ref = node->parent;
  }
  return name;
}

template <class Enum>
Enum enum_of(uint64_t value, Enum last, Enum otherwise) {
  return value <= static_cast<uint64_t>(last) ? static_cast<Enum>(value) : otherwise;
}

/// Times of an archive lie within these, as EventDecoder takes care.
constexpr uint64_t kFarthest = uint64_t{1} << 61;

}  // namespace

std::optional<DeviceParameter> DeviceTable::parameter(OTF2_ParameterRef ref) const {
  const auto found = std::find(parameters.begin(), parameters.end(), ref);
  if (ref == OTF2_UNDEFINED_PARAMETER || found == parameters.end()) return std::nullopt;
  return static_cast<DeviceParameter>(found - parameters.begin());
}

/// Devices in the order of their nodes. If an archive has none (Score-P's), each group of streams
/// is a device of its own: whether two processes share one is unknown.
DeviceTable resolve_devices(const RawGlobalDefinitions& raw, std::vector<Device>& devices) {
  DeviceTable table;
  for (const RawAttribute& attribute : raw.attributes) {
    for (size_t i = 0; i < kDeviceAttributeCount; ++i) {
      if (text(raw, attribute.name) == kDeviceAttributes[i].name) {
        table.attributes[i] = attribute.ref;
      }
    }
  }
  for (const RawParameter& parameter : raw.parameters) {
    for (size_t i = 0; i < kDeviceParameterCount; ++i) {
      if (text(raw, parameter.name) == kDeviceParameters[i]) table.parameters[i] = parameter.ref;
    }
  }
  std::map<OTF2_SystemTreeNodeRef, DeviceId> nodes;
  for (const OTF2_SystemTreeNodeRef ref : raw.device_nodes) nodes.emplace(ref, DeviceId());
  for (auto& [ref, id] : nodes) {
    const RawSystemNode* node = raw.system_nodes.find(ref);
    const OTF2_StringRef* identity = raw.device_identities.find(ref);
    id = DeviceId(devices.size());
    devices.push_back({node ? text(raw, node->name) : "", node ? node_above(raw, node->parent) : "",
                       identity ? text(raw, *identity) : ""});
  }
  for (const RawLocationGroup& group : raw.location_groups) {
    if (group.type != OTF2_LOCATION_GROUP_TYPE_ACCELERATOR) continue;
    const auto node = nodes.find(group.parent);
    const bool known = node != nodes.end();
    if (!table.of_group.emplace(group.ref, known ? node->second : DeviceId(devices.size())).second)
      continue;
    if (!known) devices.push_back({text(raw, group.name), node_above(raw, group.parent), ""});
  }
  table.queues = raw.queues;
  return table;
}

uint64_t DeviceDecoder::value(const Attributes& list, DeviceAttribute attribute,
                              uint64_t otherwise) const {
  const auto index = static_cast<size_t>(attribute);
  return list.value(table_.attributes[index], kDeviceAttributes[index].type).value_or(otherwise);
}

void DeviceDecoder::operation(Time time, OperationNumber number, const Attributes& list,
                              EventSink& sink) const {
  DeviceOperation op;
  op.operation = number;
  op.kind = enum_of(value(list, DeviceAttribute::kind, 0), kLastDeviceOpKind, DeviceOpKind::other);
  op.direction =
      enum_of(value(list, DeviceAttribute::direction, 0), kLastCopyDirection, CopyDirection::none);
  op.memory =
      enum_of(value(list, DeviceAttribute::memory, 0), kLastHostMemory, HostMemory::unknown);
  op.bytes = value(list, DeviceAttribute::bytes, 0);
  op.graph_node = value(list, DeviceAttribute::graph_node, 0);
  const uint64_t submitted = value(list, DeviceAttribute::submitted, UINT64_MAX);
  if (submitted < kFarthest) op.submitted = Time::from_nanos(static_cast<int64_t>(submitted));
  sink.device_operation(time, op);
}

void DeviceDecoder::wait(Time time, uint64_t object, const Attributes& list,
                         EventSink& sink) const {
  DeviceWait wait;
  wait.what = enum_of(value(list, DeviceAttribute::wait_for, 0), kLastDeviceWaitFor,
                      DeviceWaitFor::operation);
  if (wait.what == DeviceWaitFor::operation) wait.operation = OperationNumber{object};
  if (wait.what == DeviceWaitFor::queue) wait.queue = static_cast<uint32_t>(object);
  if (wait.what == DeviceWaitFor::device && object < device_count_) wait.device = DeviceId(object);
  sink.device_wait(time, wait);
}

void DeviceDecoder::see(Time time, DeviceParameter what, uint64_t number,
                        const Attributes& attributes, EventSink& sink) {
  switch (what) {
    case DeviceParameter::after:
      after_.push_back(OperationNumber{number});
      return;
    case DeviceParameter::launch: {
      DeviceLaunch launch;
      launch.operation = OperationNumber{number};
      launch.kind = enum_of(value(attributes, DeviceAttribute::kind, 0), kLastDeviceOpKind,
                            DeviceOpKind::other);
      launch.queue =
          static_cast<uint32_t>(value(attributes, DeviceAttribute::queue, kNoDeviceQueue));
      launch.after = after_;
      sink.device_launch(time, launch);
      after_.clear();
      return;
    }
    case DeviceParameter::wait:
      return wait(time, number, attributes, sink);
    case DeviceParameter::operation:
      return operation(time, OperationNumber{number}, attributes, sink);
  }
}

}  // namespace culprit::trace
