// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// The single activities, waits and messages of a part of a run: for pictures, and for tools that
// read events. Findings contain only sums, so this reads the trace again. All times are relative to
// the run's begin.
#pragma once

#include <limits>
#include <set>
#include <vector>

#include "base/losses.h"
#include "base/result.h"
#include "blame/critical_path/critical_path.h"
#include "blame/findings/findings.h"
#include "replay/model/wait_patterns.h"
#include "trace/source.h"

namespace culprit::blame {

/// The selected part of the run.
struct ExcerptSelection {
  double from_s = 0, to_s = std::numeric_limits<double>::infinity();
  std::set<uint32_t> ranks;  ///< empty: all
  double shortest_s = 0;     ///< shorter activities and waits are left out
};

/// Time at one call path, waiting included.
struct ExcerptActivity {
  LocationId location;
  CallPathId path;
  Time begin, end;
};

struct ExcerptWait {
  LocationId location;
  CallPathId path;
  replay::Pattern pattern{};
  LocationId cause;
  Time begin, end;
};

struct ExcerptMessage {
  LocationId sender, receiver;
  Time sent;           ///< the call that handed it over was entered
  Time received;       ///< the call that completed its receipt was left
  uint32_t bytes = 0;  ///< UINT32_MAX if more
};

struct Excerpt {
  Duration wall;                            ///< of the whole run
  std::vector<FoundLocation> locations;     ///< all of the run's, and so are
  std::vector<FoundCallPath> callpaths;     ///< the call paths: both by id
  std::vector<ExcerptActivity> activities;  ///< by location, then in order of time
  std::vector<ExcerptWait> waits;           ///< likewise
  std::vector<ExcerptMessage> messages;     ///< by receipt; at least one end is wanted
  std::vector<PathSegment> critical;        ///< all of the path in this time, on any rank
  uint64_t left_out = 0;                    ///< activities that were too short
};

/// Reads the selected part on `threads` threads (0: all cores). Error if the run cannot be read, or
/// contains nothing of the selection.
Result<Excerpt> read_excerpt(const trace::Source& source, const ExcerptSelection& selection,
                             unsigned threads, Losses& losses);

}  // namespace culprit::blame
