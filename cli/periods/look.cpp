// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A run that goes on is read like any other: its records lie in files that can be read at any
// moment. Nothing is written into its experiment. Waiting is known only of runs that have ended.
#include "cli/periods/look.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <optional>

#include "assemble/assemble.h"
#include "base/files/regular_file.h"
#include "base/log.h"
#include "blame/excerpt/excerpt.h"
#include "cli/open_findings.h"
#include "cli/pipeline.h"
#include "predict/periods/found.h"
#include "report/words/layout.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;
using blame::SeriesKind;
using predict::Series;

constexpr log::Component kLog("periods");

struct Found {
  std::vector<Series> all;
  std::optional<int64_t> began_ns;  ///< of a run that goes on: second 0, by CLOCK_REALTIME
};

bool is_wanted(const PeriodsArguments& arguments, SeriesKind kind) {
  return arguments.series.empty() || std::find(arguments.series.begin(), arguments.series.end(),
                                               to_string(kind)) != arguments.series.end();
}

int64_t realtime_ns() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

Result<Found> from_source(const trace::Source& source, const PeriodsArguments& arguments,
                          bool runs) {
  Losses losses;
  auto read = predict::read_series(source, arguments.selection, arguments.threads, losses);
  if (!read) return read.error();
  Found found{std::move(read->all), {}};
  if (runs) {
    const auto origin = static_cast<int64_t>(source.definitions().origin_realtime_ns);
    found.began_ns = origin + read->begin.nanos();
  } else if (is_wanted(arguments, SeriesKind::waiting)) {
    Losses again;
    blame::ExcerptSelection all;
    all.ranks = arguments.selection.ranks;
    const auto excerpt = blame::read_excerpt(source, all, arguments.threads, again);
    if (!excerpt) return excerpt.error();
    auto waiting = predict::waiting_series(*excerpt, arguments.selection);
    if (!waiting) return waiting.error();
    for (Series& each : *waiting) found.all.push_back(std::move(each));
  }
  for (const auto& [name, loss] : losses.all()) {
    if (loss.severity == Severity::data_loss && !runs) kLog.warning("{} ({})", loss.advice, name);
  }
  return found;
}

Result<Found> from_profile(const PeriodsArguments& arguments) {
  if (arguments.selection.rate_hz > 0) {
    return Error{"a profile has the values that it has: leave out --rate"};
  }
  const auto opened = open_findings(arguments.input);
  if (!opened) return opened.error();
  auto series = predict::profile_series(opened->findings, arguments.selection);
  if (!series) return series.error();
  return Found{std::move(*series), {}};
}

Result<Found> from_values(const PeriodsArguments& arguments) {
  const auto text = read_regular_file(arguments.values, Owner::anybody);
  if (!text) return Error{"cannot read '" + arguments.values.string() + "'"};
  auto series = predict::values_series(*text, arguments.selection);
  if (!series) return series.error();
  series->part = arguments.values.filename().string();
  return Found{{std::move(*series)}, {}};
}

Result<Found> find_series(const PeriodsArguments& arguments) {
  if (!arguments.values.empty()) return from_values(arguments);
  std::error_code code;
  if (arguments.profile || !fs::is_directory(arguments.input, code)) return from_profile(arguments);
  const auto info = read_info(arguments.input);
  if (!info) return info.error();
  if (!fs::exists(trace_of(arguments.input, *info), code)) return from_profile(arguments);
  if (assemble::still_runs(arguments.input)) {
    const auto records =
        assemble::open_records(arguments.input, arguments.threads, assemble::Keep::nothing);
    if (!records) return records.error();
    return from_source(*records->source, arguments, /*runs=*/true);
  }
  Losses losses;
  const auto opened = open_trace(arguments.input, *info, arguments.threads, losses);
  if (!opened) return opened.error();
  return from_source(*opened->source, arguments, /*runs=*/false);
}

/// Warns of more calls than values: faster periods would look like slower ones (aliasing).
void warn_of_speed(const Series& series) {
  if (series.source != blame::SeriesSource::trace || series.pieces <= series.values.size()) return;
  kLog.warning(
      "{} has {} stretches in {} values, too fast to be seen: look at a part of the run "
      "(--from, --to) or ask for a higher --rate",
      to_string(series.kind), report::grouped(series.pieces),
      report::grouped(series.values.size()));
}

/// Returns a text on the selected part of a run (ranks), besides the series' own description.
std::string part_of(const Series& series, const PeriodsArguments& arguments) {
  if (arguments.ranks.empty() || !arguments.values.empty()) return series.part;
  return (series.part.empty() ? "" : series.part + ", ") + "ranks " + arguments.ranks;
}

/// Error if a series that was requested by name is missing: it would look like one without a
/// period.
Result<void> check_all_there(const Found& found, const PeriodsArguments& arguments) {
  if (found.began_ns) return {};  // it may still come
  const auto is_there = [&](std::string_view kind) {
    return std::any_of(found.all.begin(), found.all.end(),
                       [&](const Series& each) { return to_string(each.kind) == kind; });
  };
  const std::string& glob = arguments.selection.callpath;
  if (!glob.empty() && !is_there(to_string(SeriesKind::callpath))) {
    return Error{"no call path is like '" + glob + "'"};
  }
  for (const std::string& kind : arguments.series) {
    if (!is_there(kind)) return Error{"the run has nothing in the series '" + kind + "'"};
  }
  return {};
}

}  // namespace

Result<FoundPeriods> look_for_periods(const PeriodsArguments& arguments) {
  auto series = find_series(arguments);
  if (!series) return series.error();
  FoundPeriods found;
  if (arguments.values.empty()) {
    if (auto there = check_all_there(*series, arguments); !there) return there.error();
    std::erase_if(series->all,
                  [&](const Series& each) { return !is_wanted(arguments, each.kind); });
  }
  if (series->all.empty()) {
    return Error{"the run has nothing in these series: no such calls, call paths or devices"};
  }
  for (Series& each : series->all) {
    each.part = part_of(each, arguments);
    warn_of_speed(each);
    const predict::Period period = predict::find_period(each);
    // "Now" is the time of output, since the search takes time, too.
    found.now_s = series->began_ns ? 1e-9 * static_cast<double>(realtime_ns() - *series->began_ns)
                                   : each.end_s();
    for (auto& row : predict::found_periods(each, period, found.now_s)) found.rows.push_back(row);
  }
  return found;
}

}  // namespace culprit::cli
