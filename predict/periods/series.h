// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A quantity over time, as evenly spaced values: from the events of a trace, from the intervals
// that findings keep of a run, or from a file of times and values.
#pragma once

#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/losses.h"
#include "base/result.h"
#include "blame/excerpt/excerpt.h"
#include "blame/findings/findings.h"
#include "trace/source.h"

namespace culprit::predict {

/// Each value is the mean over its step: of a rate (bytes/s), or of how many locations.
struct Series {
  blame::SeriesKind kind = blame::SeriesKind::file;
  std::string part;  ///< of the run: ranks, a call path, a stage; empty: all
  blame::SeriesSource source = blame::SeriesSource::values;
  double begin_s = 0;  ///< from the start of the run
  double step_s = 1;
  std::vector<double> values;
  uint64_t pieces = 0;  ///< calls or stretches that it was made of; 0: unknown

  double end_s() const { return begin_s + step_s * static_cast<double>(values.size()); }
};

struct SeriesSelection {
  double from_s = -std::numeric_limits<double>::infinity();  ///< a file of values may begin below 0
  double to_s = std::numeric_limits<double>::infinity();
  std::set<uint32_t> ranks;  ///< empty: all
  std::string callpath;      ///< a pattern of call paths (base/glob.h); empty: none is looked for
  double rate_hz = 0;        ///< values per second; 0: as many as there is something to see
};

/// Error if the part that is selected has no length.
Result<void> check_part(const SeriesSelection& selection);

/// Error if one of the selected ranks is not among the run's.
Result<void> check_ranks(const SeriesSelection& selection, const std::set<uint32_t>& of_run);

/// The largest number of values of a series that is made from a trace.
inline constexpr size_t kMostSamples = size_t{1} << 20;

struct TraceSeries {
  std::vector<Series> all;  ///< those that have something in them
  Time begin;               ///< of the run, in the trace's time: second 0
  double wall_s = 0;        ///< up to the last event
};

/// Reads all kinds of series but waiting, in two walks over the events on `threads` threads (0: all
/// cores). Activities that are still under way at the end count up to the end, except bytes, whose
/// number is not known yet. Error if the selection is empty.
Result<TraceSeries> read_series(const trace::Source& source, const SeriesSelection& selection,
                                unsigned threads, Losses& losses);

/// Returns the series of waiting, from an excerpt of the whole run. Empty if no location waits.
Result<std::vector<Series>> waiting_series(const blame::Excerpt& excerpt,
                                           const SeriesSelection& selection);

/// From findings: waiting, io, mpi, callpath and device-idle. Ranks of a group (in runs of more
/// than 64) cannot be told apart: io, mpi and callpath are of the groups whose first rank is
/// selected.
Result<std::vector<Series>> profile_series(const blame::Findings& findings,
                                           const SeriesSelection& selection);

/// Of a text with a line "time,value" for each moment, in seconds, times rising; a value holds
/// until the next time, which is how FTIO takes its vectors. A first line of words and empty lines
/// are passed over. Error that names the line.
Result<Series> values_series(std::string_view text, const SeriesSelection& selection);

}  // namespace culprit::predict
