// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Devices in archives. A device is a node of the system tree, below the machine's node that it is
// in; a process's part in it is a location group of accelerators, which the process has created;
// streams are that group's locations. What hosts hand over and wait for, and what streams execute,
// are parameters with attributes, since OTF2 has no records for that. This file knows both ways.
#pragma once

#include <otf2/otf2.h>

#include <array>
#include <cstdint>
#include <map>
#include <string_view>

#include "trace/definitions.h"
#include "trace/events.h"
#include "trace/otf2/records/attributes.h"

namespace culprit::trace {

struct RawGlobalDefinitions;

/// The parameters. Their values: the operation's number, but of a wait for a queue or a device that
/// one's number.
enum class DeviceParameter : uint8_t { launch, after, wait, operation };
inline constexpr size_t kDeviceParameterCount = 4;
inline constexpr std::array<std::string_view, kDeviceParameterCount> kDeviceParameters = {
    "culprit::device_launch", "culprit::device_after", "culprit::device_wait",
    "culprit::device_operation"};

/// Attributes beside the value.
enum class DeviceAttribute : uint8_t {
  kind,        ///< DeviceOpKind
  queue,       ///< of a launch
  wait_for,    ///< DeviceWaitFor
  direction,   ///< CopyDirection, unless none
  memory,      ///< HostMemory, unless unknown
  bytes,       ///< unless 0
  submitted,   ///< nanoseconds from the trace's begin, if known
  graph_node,  ///< unless 0
};
inline constexpr size_t kDeviceAttributeCount = 8;

struct DeviceAttributeText {
  std::string_view name;
  const char* description;
  OTF2_Type type;
};
inline constexpr std::array<DeviceAttributeText, kDeviceAttributeCount> kDeviceAttributes = {{
    {"culprit::device_op",
     "0 kernel, 1 copy, 2 fill, 3 map, 4 migration, 5 wait, 6 marker, 7 graph, 8 host function, "
     "9 release, 10 other",
     OTF2_TYPE_UINT8},
    {"culprit::device_queue", "The queue, by its number in the process", OTF2_TYPE_UINT32},
    {"culprit::device_wait_for", "0 an operation, 1 a queue, 2 a device", OTF2_TYPE_UINT8},
    {"culprit::copy_direction",
     "1 to the device, 2 from it, 3 within it, 4 between devices, 5 within the host",
     OTF2_TYPE_UINT8},
    {"culprit::host_memory", "1 pageable, 2 pinned, 3 managed", OTF2_TYPE_UINT8},
    {"culprit::device_bytes", "Bytes that the operation moves", OTF2_TYPE_UINT64},
    {"culprit::submitted", "When the runtime gave the operation to the device", OTF2_TYPE_UINT64},
    {"culprit::graph_node", "Which node of a graph the operation is", OTF2_TYPE_UINT64},
}};

/// Names of properties: what tells a device from others of its node, and a stream's queue.
inline constexpr std::string_view kIdentityProperty = "culprit::identity";
inline constexpr std::string_view kQueueProperty = "culprit::device_queue";
inline constexpr std::string_view kDeviceClass = "accelerator";

/// The devices of an archive that is read. In archives of other writers less is known of them.
struct DeviceTable {
  std::array<OTF2_AttributeRef, kDeviceAttributeCount> attributes;
  std::array<OTF2_ParameterRef, kDeviceParameterCount> parameters;
  std::map<OTF2_LocationGroupRef, DeviceId> of_group;
  std::map<OTF2_LocationRef, uint32_t> queues;  ///< where the archive tells

  DeviceTable() {
    attributes.fill(OTF2_UNDEFINED_ATTRIBUTE);
    parameters.fill(OTF2_UNDEFINED_PARAMETER);
  }
  /// Streams have records of their operations: the archive is one of culprit's.
  bool numbers_operations() const {
    return parameters[static_cast<size_t>(DeviceParameter::operation)] != OTF2_UNDEFINED_PARAMETER;
  }
  /// The parameter for devices that `ref` refers to; nothing if it is another one.
  std::optional<DeviceParameter> parameter(OTF2_ParameterRef ref) const;
};

/// Finds the devices of an archive, and adds them to `devices`.
DeviceTable resolve_devices(const RawGlobalDefinitions& raw, std::vector<Device>& devices);

/// Puts together what the parameters of one location tell. A launch comes after the operations that
/// it waits for.
class DeviceDecoder {
 public:
  DeviceDecoder(const DeviceTable& table, size_t device_count)
      : table_(table), device_count_(device_count) {}
  void see(Time time, DeviceParameter what, uint64_t value, const Attributes& attributes,
           EventSink& sink);

 private:
  /// The attribute's value, or `otherwise`.
  uint64_t value(const Attributes& list, DeviceAttribute attribute, uint64_t otherwise) const;
  void operation(Time time, OperationNumber number, const Attributes& list, EventSink& sink) const;
  void wait(Time time, uint64_t object, const Attributes& list, EventSink& sink) const;

  const DeviceTable& table_;
  size_t device_count_;
  std::vector<OperationNumber> after_;
};

}  // namespace culprit::trace
