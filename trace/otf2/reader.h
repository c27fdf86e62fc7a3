// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Reads OTF2 archives (ours, Score-P's, other writers') as a trace::Source. Everything OTF2 stays
// in this folder. Times are nanoseconds since the archive's global offset, whatever its resolution.
#pragma once

#include <filesystem>
#include <memory>

#include "base/result.h"
#include "trace/source.h"

namespace culprit::trace {

/// Who unpacks the records of events.
enum class EventReader {
  own,   ///< our own reader, and OTF2's for files that are not plain
  otf2,  ///< OTF2's alone; tests compare the two
};

/// Opens `anchor` (a `traces.otf2` or the like) and reads its definitions. Errors, one sentence
/// each: no such file, not an OTF2 anchor, truncated or damaged definitions, no locations.
/// What the archive holds but culprit cannot use (accelerator records, unknown paradigms) is
/// counted in `losses`. OTF2's own messages never reach the terminal.
Result<std::unique_ptr<Source>> open_otf2(const std::filesystem::path& anchor, Losses& losses,
                                          EventReader events = EventReader::own);

/// True if these losses show that an archive was damaged or cut short: events that were recorded
/// are missing from a result.
bool archive_was_damaged(const Losses& losses);

}  // namespace culprit::trace
