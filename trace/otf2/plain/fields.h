// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How the fields of records are stored, by the names that records.def has for them. Each is a type
// whose read() takes the field from `in`, a Fields.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>

#include "trace/otf2/plain/cursor.h"
#include "trace/otf2/plain/local_definitions.h"
#include "trace/otf2/records/handle.h"

namespace culprit::trace::plain {

/// Room for the values of the metric record at hand.
struct MetricRoom {
  OTF2_Type types[UINT8_MAX];
  OTF2_MetricValue values[UINT8_MAX];
};

template <bool kSwapped>
struct Fields : Cursor<kSwapped> {
  Fields(Cursor<kSwapped> begin, const LocalDefinitions& definitions, LocalClock& times,
         MetricRoom& room)
      : Cursor<kSwapped>(begin), local(definitions), clock(times), metrics(room) {}

  const LocalDefinitions& local;
  LocalClock& clock;
  MetricRoom& metrics;
};

namespace field {

struct U8 {
  static uint8_t read(auto& in) { return in.byte(); }
};
struct U32 {
  static uint32_t read(auto& in) { return in.packed32(); }
};
struct U64 {
  static uint64_t read(auto& in) { return in.packed64(); }
};
struct I64 {
  static int64_t read(auto& in) { return static_cast<int64_t>(in.packed64()); }
};
/// Of the location's clock.
struct Ticks {
  static uint64_t read(auto& in) { return in.clock.corrected(in.template raw<uint64_t>()); }
};

/// A reference to a definition; the global one is what counts.
template <OTF2_MappingType kKind>
struct Ref {
  static uint32_t read(auto& in) { return in.local.global(kKind, in.packed32()); }
};
using String = Ref<OTF2_MAPPING_STRING>;
using Region = Ref<OTF2_MAPPING_REGION>;
using Group = Ref<OTF2_MAPPING_GROUP>;
using Metric = Ref<OTF2_MAPPING_METRIC>;
using Comm = Ref<OTF2_MAPPING_COMM>;
using Parameter = Ref<OTF2_MAPPING_PARAMETER>;
using Window = Ref<OTF2_MAPPING_RMA_WIN>;
using CallingContext = Ref<OTF2_MAPPING_CALLING_CONTEXT>;
using InterruptGenerator = Ref<OTF2_MAPPING_INTERRUPT_GENERATOR>;
using IoFile = Ref<OTF2_MAPPING_IO_FILE>;
using IoHandle = Ref<OTF2_MAPPING_IO_HANDLE>;

/// A number of metrics, and a type and a value for each.
struct MetricValues {
  static trace::MetricValues read(auto& in) {
    const uint8_t count = in.byte();
    for (size_t i = 0; i < count && in.ok(); ++i) {
      in.metrics.types[i] = in.byte();
      in.metrics.values[i].unsigned_int = in.packed64();
    }
    return {count, in.metrics.types, in.metrics.values};
  }
};

/// A number of strings, and a reference to each. Nobody asks for them.
struct Strings {
  struct None {};
  static None read(auto& in) {
    const uint32_t count = in.packed32();
    for (uint32_t i = 0; i < count && in.ok(); ++i) in.packed32();
    return {};
  }
};

}  // namespace field
}  // namespace culprit::trace::plain
