// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A callback for each row of records.def: it hands the fields to the row's handler.
#include "trace/otf2/records/callbacks.h"

#include "trace/otf2/records/handle.h"
#include "trace/otf2/records/handle_one_sided.h"

namespace culprit::trace {

namespace {

/// OTF2 hands over a list with every event; most are empty.
const Attributes& attributes_of(CallbackData& data, const OTF2_AttributeList* list) {
  data.attributes.clear();
  const uint32_t count = list ? OTF2_AttributeList_GetNumberOfElements(list) : 0;
  for (uint32_t i = 0; i < count; ++i) {
    OTF2_AttributeRef ref = OTF2_UNDEFINED_ATTRIBUTE;
    OTF2_Type type = OTF2_TYPE_NONE;
    OTF2_AttributeValue value{};
    OTF2_AttributeList_GetAttributeByIndex(list, i, &ref, &type, &value);
    switch (type) {
      case OTF2_TYPE_UINT8:
        data.attributes.add(ref, type, value.uint8);
        break;
      case OTF2_TYPE_UINT32:
      case OTF2_TYPE_COMM:
      case OTF2_TYPE_GROUP:
        data.attributes.add(ref, type, value.uint32);
        break;
      default:
        data.attributes.add(ref, type, value.uint64);
    }
  }
  return data.attributes;
}

template <auto kHandle, class... Fields>
OTF2_CallbackCode call(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* user_data,
                       OTF2_AttributeList* list, Fields... fields) {
  auto& data = *static_cast<CallbackData*>(user_data);
  kHandle(data.decoder, time, attributes_of(data, list), fields...);
  return OTF2_CALLBACK_SUCCESS;
}

}  // namespace

const OTF2_EvtReaderCallbacks* event_callbacks() {
  static const OTF2_EvtReaderCallbacks* const all = [] {
    OTF2_EvtReaderCallbacks* c = OTF2_EvtReaderCallbacks_New();
    OTF2_EvtReaderCallbacks_SetUnknownCallback(c, call<Other<"Unknown">{}>);
#define RECORD(id, name, length, handler, fields) \
  OTF2_EvtReaderCallbacks_Set##name##Callback(c, call<handler>);
#include "trace/otf2/records/records.def"
    return c;
  }();
  return all;
}

}  // namespace culprit::trace
