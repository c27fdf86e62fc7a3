// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A cut: all changes of a process's threads up to a moment become part of its potential. Afterwards
// the lists have room again.
#pragma once

#include <cstdint>
#include <span>

#include "fold/change.h"
#include "fold/potential/merge.h"
#include "fold/potential/potential.h"

namespace culprit::fold {

/// Applies all changes until `until`, and returns the moment up to which it came: no later than the
/// oldest fork whose team's size is not known yet, unless that was more than `patience` ticks
/// before. The room has a part for each list, and buffers of at least one entry a list. At equal
/// times the changes of a list that stands first come first. From now on no list may get a change
/// that is earlier.
uint64_t cut(std::span<ChangeList* const> lists, uint64_t until, uint64_t patience, MergeRoom room,
             Potential& potential);

}  // namespace culprit::fold
