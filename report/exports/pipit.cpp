// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// CSV of events as pipit reads them: a line when a function is entered, and one when it is left.
// pipit sorts lines by time with a sort that does not keep the order of equals, so lines of the
// same nanosecond on a location are a hundredth of a nanosecond apart.

#include <fmt/format.h>

#include <iterator>
#include <string>

#include "report/exports/exports.h"
#include "report/exports/figures.h"
#include "report/exports/nesting.h"
#include "report/table/write.h"

namespace culprit::report {

Result<void> export_pipit(const blame::Excerpt& excerpt, const std::filesystem::path& output) {
  std::string text = "Timestamp (ns),Event Type,Name,Process,Thread\n";
  LocationId location;
  Time last = Time::min();
  int equals = 0;
  const auto line = [&](LocationId at, CallPathId path, Time time, const char* type) {
    equals = at == location && time == last ? equals + 1 : 0;
    location = at, last = time;
    const blame::FoundLocation& who = excerpt.locations[at.index()];
    fmt::format_to(std::back_inserter(text), "{}.{:02},{},{},{},{}\n", time.nanos(),
                   std::min(equals, 99), type, csv_cell(excerpt.callpaths[path.index()].region),
                   who.rank, who.thread);
  };
  Nesting(excerpt).play(
      [&](LocationId at, CallPathId path, Time time) { line(at, path, time, "Enter"); },
      [&](LocationId at, CallPathId path, Time time) { line(at, path, time, "Leave"); });
  return write_new_file(output, text);
}

}  // namespace culprit::report
