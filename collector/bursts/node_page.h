// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What all processes of a node share: the page (trace::RawNodePage) with the budget for records,
// the end of the whole part, and the bursts. Nothing waits: amounts are taken from atomic counters,
// so the sum never exceeds the budget, and who finds no room goes without. Where the page cannot be
// mapped, a process has one to itself, with its share of the budget. MT: any thread.
// Async-signal-safe.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/raw/bursts.h"

namespace culprit::collector::node {

/// Maps the page of this process's node, and makes it if there is none. At activation, once the
/// process's record says on which clock it is.
void begin(const char* experiment, trace::RawProcess& process);

trace::RawNodePage& page();

/// The folder of the node's bursts.
const char* folder();

/// Bytes that all records of the node may take: what files of constant size leave of its budget,
/// and at least half of it.
uint64_t budget();
/// A log of this process begins, with its part of the profile and its state.
void take_constant(size_t bytes);
void give_back_constant(size_t bytes);

/// Whether the node has room for the next window of the whole part, which is taken. If not, the
/// whole part ends.
bool take_for_whole_part(size_t bytes);
bool whole_part_is_over();
/// A window whose records begin behind `ticks` cannot be written: the whole part ended then.
void end_whole_part_for_want_of_disk(uint64_t ticks);
bool disk_was_full();

/// Takes room for a burst's records or for definitions. If there is none, bursts are thinned.
/// False, and nothing taken, if that does not help.
bool take(size_t bytes);
/// Takes room that is needed in any case.
void take_first(size_t bytes);
void give_back(size_t bytes);

/// The burst of a slot, which is entered if it is new; nullptr if it is thinned, or if there is no
/// place for it. `begin`, `end`: in ticks, as this thread would have them; the entry has those of
/// the thread that was first.
trace::RawBurst* burst_of(uint64_t slot, uint64_t begin, uint64_t end);

/// Later bursts have half of their length; once that is too short, there are none. False if there
/// are none already.
bool shorten_bursts();

/// Raises the level until it leaves no more bursts than wanted from slot `first`, that of the whole
/// part's end, to `slot`.
void reach(uint64_t slot, uint64_t first);

}  // namespace culprit::collector::node
