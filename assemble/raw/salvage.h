// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which records of a damaged window can be true. It is unknown which bytes are wrong, so a record
// must look like one: it has a known kind, the length that the kind needs, and a time when the
// process lived. After one that does not, the next that does is searched for. Records are dropped
// whose times do not fit the longest sequence in order; and the last ones, if they lie far beyond
// all other known times. Comparisons of clocks are always dropped, since they move whole nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assemble/raw/reader.h"

namespace culprit::assemble {

struct Salvaged {
  std::vector<uint32_t> good;  ///< where the records begin, bytes, ascending
  uint64_t refused = 0;        ///< candidates that are no records
  uint64_t newest = 0;         ///< ticks of the last; 0: none has a time
};

/// Of the bytes of a window, or of a part of it.
Salvaged salvage(std::span<const std::byte> window, const RecordBounds& bounds);

}  // namespace culprit::assemble
