// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Devices, as devices.h says.
#include "trace/otf2/devices.h"
#include "trace/otf2/sink.h"

namespace culprit::trace {

namespace {

template <class Enum>
uint8_t number(Enum value) {
  return static_cast<uint8_t>(value);
}

}  // namespace

void Otf2Sink::device_parameter(Time time, DeviceParameter what, uint64_t value,
                                OTF2_AttributeList* attributes) {
  check(OTF2_EvtWriter_ParameterUnsignedInt(writer_, attributes, stamp(time), device_ref(what),
                                            value));
}

void Otf2Sink::device_launch(Time time, const DeviceLaunch& launch) {
  for (const OperationNumber operation : launch.after) {
    device_parameter(time, DeviceParameter::after, static_cast<uint64_t>(operation), nullptr);
  }
  OTF2_AttributeList* const list = attributes_.get();
  OTF2_AttributeList_AddUint8(list, device_ref(DeviceAttribute::kind), number(launch.kind));
  if (launch.queue != kNoDeviceQueue) {
    OTF2_AttributeList_AddUint32(list, device_ref(DeviceAttribute::queue), launch.queue);
  }
  device_parameter(time, DeviceParameter::launch, static_cast<uint64_t>(launch.operation), list);
}

void Otf2Sink::device_wait(Time time, const DeviceWait& wait) {
  OTF2_AttributeList* const list = attributes_.get();
  OTF2_AttributeList_AddUint8(list, device_ref(DeviceAttribute::wait_for), number(wait.what));
  uint64_t object = static_cast<uint64_t>(wait.operation);
  if (wait.what == DeviceWaitFor::queue) object = wait.queue;
  if (wait.what == DeviceWaitFor::device) {
    object = wait.device.valid() ? wait.device.index() : UINT32_MAX;
  }
  device_parameter(time, DeviceParameter::wait, object, list);
}

void Otf2Sink::device_operation(Time time, const DeviceOperation& op) {
  OTF2_AttributeList* const list = attributes_.get();
  OTF2_AttributeList_AddUint8(list, device_ref(DeviceAttribute::kind), number(op.kind));
  if (op.direction != CopyDirection::none) {
    OTF2_AttributeList_AddUint8(list, device_ref(DeviceAttribute::direction), number(op.direction));
  }
  if (op.memory != HostMemory::unknown) {
    OTF2_AttributeList_AddUint8(list, device_ref(DeviceAttribute::memory), number(op.memory));
  }
  if (op.bytes != 0) {
    OTF2_AttributeList_AddUint64(list, device_ref(DeviceAttribute::bytes), op.bytes);
  }
  if (op.submitted && op.submitted->nanos() >= 0) {
    OTF2_AttributeList_AddUint64(list, device_ref(DeviceAttribute::submitted),
                                 static_cast<uint64_t>(op.submitted->nanos()));
  }
  if (op.graph_node != 0) {
    OTF2_AttributeList_AddUint64(list, device_ref(DeviceAttribute::graph_node), op.graph_node);
  }
  device_parameter(time, DeviceParameter::operation, static_cast<uint64_t>(op.operation), list);
}

}  // namespace culprit::trace
