// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Where a thread's blame is written: a column of its rows, which belong to somebody else.
#pragma once

#include <cstddef>
#include <cstdint>

#include "fold/potential/crew.h"

namespace culprit::fold {

/// Blame is written in ticks / 2^`shift`. The rest of a unit is kept for the next row that earns,
/// so that rows and rest are what the thread earned, exactly.
struct Ledger {
  uint64_t* first = nullptr;  ///< of row 0, which takes what belongs to no other; nullptr: no rows
  uint32_t stride = 1;        ///< words from one row to the next
  uint32_t rows = 0;
  uint32_t shift = 0;
  Wide rest = 0;

  void add(uint32_t row, Wide amount) {
    rest += amount;
    if (rows == 0) return;
    const unsigned unit = kPotentialShift - shift;
    first[size_t{row < rows ? row : 0} * stride] += static_cast<uint64_t>(rest >> unit);
    rest &= (Wide{1} << unit) - 1;
  }
  /// Rows of samples have weights instead.
  void weigh(uint32_t row, uint64_t weight) {
    if (row < rows) first[size_t{row} * stride] += weight;
  }
};

}  // namespace culprit::fold
