// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// How values of attributes and properties are stored, by their type.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>

namespace culprit::trace::plain {

/// Numbers as they are, extended to 64 bits; references as the file has them.
template <class In>
uint64_t read_value(In& in, OTF2_Type type) {
  switch (type) {
    case OTF2_TYPE_UINT8:
    case OTF2_TYPE_INT8:
      return in.byte();
    case OTF2_TYPE_UINT16:
    case OTF2_TYPE_INT16:
      return in.template raw<uint16_t>();
    case OTF2_TYPE_FLOAT:
      return in.template raw<uint32_t>();
    case OTF2_TYPE_DOUBLE:
      return in.template raw<uint64_t>();
    default:
      break;
  }
  // Types of later versions are references, of which nobody knows how large they are.
  const bool wide = type == OTF2_TYPE_UINT64 || type == OTF2_TYPE_INT64 ||
                    type == OTF2_TYPE_LOCATION || type == OTF2_TYPE_NONE ||
                    type > OTF2_TYPE_LOCATION_GROUP;
  return wide ? in.packed64() : in.packed32();
}

}  // namespace culprit::trace::plain
