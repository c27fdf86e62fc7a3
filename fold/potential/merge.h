// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Merges the lists of a process's threads in order of time, two by two, without a branch that
// depends on the data: a tree of comparisons mispredicts at every other step, since arrivals at a
// barrier come in any order. At equal times the list that stands first comes first.
#pragma once

#include <cstdint>
#include <span>

#include "fold/change.h"

namespace culprit::fold {

/// A part of a list: what is to be merged now.
struct MergePart {
  const Change* begin;
  uint32_t count;
  uint32_t end;  ///< for merge(): where the run that it belongs to ends
};

/// Memory for merging, which its caller gives: both buffers of the same size, which all parts
/// together may not exceed.
struct MergeRoom {
  std::span<Change> from, to;
  std::span<MergePart> parts;
};

/// Returns the parts as one list, which lies in the room.
std::span<const Change> merge(MergeRoom room);

}  // namespace culprit::fold
