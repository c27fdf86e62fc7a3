// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The records of a run that is described so far that they can be played, location by location.
#pragma once

#include <cstdint>
#include <vector>

#include "assemble/recorded_run.h"
#include "base/ids.h"
#include "base/losses.h"
#include "trace/events.h"

namespace culprit::assemble {

/// Plays everything without a receiver, and pools how time between events is divided
/// (RecordedRun::folding). Returns about how many events each location has, since that time is not
/// divided yet; 0 where another rank has the records.
std::vector<uint64_t> tally(RecordedRun& run, unsigned threads);

/// Plays one location, whose records this rank has. Records that make no sense are counted.
void play_location(const RecordedRun& run, LocationId location, trace::EventSink& sink,
                   Losses& losses);

}  // namespace culprit::assemble
