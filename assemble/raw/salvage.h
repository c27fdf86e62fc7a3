// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Which records of a damaged window can be true. Nobody knows which bytes are wrong, so a record
// must look like one: of a known kind, as long as that needs, at a time when the process lived.
// Where one does not, the next that does is looked for. Of their times, those go that do not fit
// the longest row of times in order; and the last ones, if they lie far beyond all that is known
// from elsewhere. Comparisons of clocks go anyway, since they move whole nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "assemble/raw/reader.h"

namespace culprit::assemble {

struct Salvaged {
  std::vector<uint32_t> good;  ///< where the records begin, bytes, ascending
  uint64_t refused = 0;        ///< what seemed to be records
  uint64_t newest = 0;         ///< ticks of the last; 0: none tells
};

/// Of the bytes of a window, or of a part of it.
Salvaged salvage(std::span<const std::byte> window, const RecordBounds& bounds);

}  // namespace culprit::assemble
