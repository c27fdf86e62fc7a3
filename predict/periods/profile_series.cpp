// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Series from the time series in findings: equal intervals, one value each.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/glob.h"
#include "blame/findings/path_meaning.h"
#include "predict/periods/series.h"

namespace culprit::predict {
namespace {

using blame::Findings;
using blame::SeriesKind;

/// Equal intervals of the run of which a part is selected.
struct Intervals {
  double width_s;
  size_t begin, end;
};

Intervals intervals_of(double wall_s, size_t count, const SeriesSelection& selection) {
  const double width = wall_s / static_cast<double>(count);
  const auto place = [&](double second) {
    return static_cast<size_t>(
        std::clamp(std::round(second / width), 0.0, static_cast<double>(count)));
  };
  return {width, place(selection.from_s), place(std::min(selection.to_s, wall_s))};
}

Series empty_series(SeriesKind kind, const Intervals& intervals) {
  Series made;
  made.kind = kind;
  made.source = blame::SeriesSource::profile;
  made.step_s = intervals.width_s;
  made.begin_s = intervals.width_s * static_cast<double>(intervals.begin);
  made.values.resize(intervals.end - intervals.begin);
  return made;
}

void add(const Intervals& intervals, size_t interval, double time_s, Series& into) {
  if (interval < intervals.begin || interval >= intervals.end || time_s <= 0) return;
  into.values[interval - intervals.begin] += time_s / intervals.width_s;
  ++into.pieces;
}

bool wanted(const Findings& f, LocationId location, const SeriesSelection& selection) {
  return selection.ranks.empty() || selection.ranks.contains(f.locations[location.index()].rank);
}

/// Returns for each call path whether it, or a path above it, matches the pattern.
std::vector<bool> below(const Findings& f, const std::string& pattern) {
  std::vector<bool> fits(f.callpaths.size());
  for (size_t i = 0; i < fits.size(); ++i) {
    const CallPathId parent = f.callpaths[i].parent;
    fits[i] = matches_callpath(pattern, f.callpaths[i].name, f.callpaths[i].region) ||
              (parent.valid() && fits[parent.index()]);
  }
  return fits;
}

/// Devices have intervals of their own number.
void add_devices(const Findings& f, const SeriesSelection& selection, std::vector<Series>& all) {
  if (f.device_times.empty()) return;
  const auto& first = f.device_times.front();
  const double width = first.end_s - first.begin_s;
  if (!(width > 0)) return;
  const auto count = static_cast<size_t>(std::lround(f.run.wall_s / width));
  const Intervals intervals = intervals_of(f.run.wall_s, std::max<size_t>(count, 1), selection);
  if (intervals.begin >= intervals.end) return;
  Series idle = empty_series(SeriesKind::device_idle, intervals);
  for (const blame::FoundDeviceTime& row : f.device_times) {
    const LocationId stream = f.devices[row.device.index()].location;
    if (stream.valid() && !wanted(f, stream, selection)) continue;
    const auto interval = static_cast<size_t>(std::lround(row.begin_s / width));
    add(intervals, interval, row.late_s + row.latency_s + row.unknown_s, idle);
  }
  if (idle.pieces > 0) all.push_back(std::move(idle));
}

}  // namespace

Result<std::vector<Series>> profile_series(const Findings& f, const SeriesSelection& selection) {
  if (f.location_times.empty() || f.run.intervals == 0 || !(f.run.wall_s > 0)) {
    return Error{"these findings have no course over time"};
  }
  if (auto part = check_part(selection); !part) return part.error();
  const Intervals intervals = intervals_of(f.run.wall_s, f.run.intervals, selection);
  if (intervals.begin >= intervals.end) return Error{"the run has ended by then"};
  std::set<uint32_t> ranks;
  for (const blame::FoundLocation& each : f.locations) ranks.insert(each.rank);
  if (auto known = check_ranks(selection, ranks); !known) return known.error();
  std::map<SeriesKind, Series> made;
  for (const SeriesKind kind :
       {SeriesKind::io, SeriesKind::mpi, SeriesKind::waiting, SeriesKind::callpath}) {
    made[kind] = empty_series(kind, intervals);
  }
  for (const blame::FoundLocationTime& row : f.location_times) {
    if (wanted(f, row.location, selection)) {
      add(intervals, row.interval, row.waiting_s, made[SeriesKind::waiting]);
    }
  }
  const auto fits = selection.callpath.empty() ? std::vector<bool>(f.callpaths.size())
                                               : below(f, selection.callpath);
  for (const blame::FoundCallPathTime& row : f.callpath_times) {
    if (!wanted(f, row.location, selection)) continue;
    const blame::FoundCallPath& path = f.callpaths[row.callpath.index()];
    if (blame::is_of(path, trace::Paradigm::mpi)) {
      add(intervals, row.interval, row.time_s, made[SeriesKind::mpi]);
    }
    const trace::MpiCall* const call = blame::mpi_call(path);
    if (call != nullptr && call->kind == trace::MpiKind::file) {
      add(intervals, row.interval, row.time_s, made[SeriesKind::io]);
    }
    if (fits[row.callpath.index()]) {
      add(intervals, row.interval, row.time_s, made[SeriesKind::callpath]);
    }
  }
  made[SeriesKind::callpath].part = selection.callpath;
  std::vector<Series> all;
  for (auto& [kind, series] : made) {
    if (series.pieces > 0) all.push_back(std::move(series));
  }
  add_devices(f, selection, all);
  return all;
}

}  // namespace culprit::predict
