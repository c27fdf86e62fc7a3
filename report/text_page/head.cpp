// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

#include "report/text_page/head.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/words/names.h"

namespace culprit::report {
namespace {

/// "2026-11-21T09:40:12+0100" as people write it.
std::string minute_of(std::string date) {
  if (date.size() > 16 && date[10] == 'T') date = date.substr(0, 10) + ' ' + date.substr(11, 5);
  return date;
}

}  // namespace

std::string time_lines(const blame::Findings& findings) {
  size_t streams = 0;
  for (const blame::FoundLocation& location : findings.locations) {
    streams += !location.stream.empty() && location.life_s > 0;
  }
  streams = std::min<size_t>(streams, findings.run.locations);
  const std::string threads = counted(findings.run.locations - streams, "thread");
  return streams == 0 ? threads : threads + " and " + counted(streams, "device stream");
}

std::string head_section(const blame::Findings& findings, const TimeFormat& time) {
  const blame::RunInfo& run = findings.run;
  const std::string& title = !run.command.empty() ? run.command : run.program;
  std::string page = shortened(title.empty() ? "(unknown command)" : title, page_width()) + '\n';
  std::string facts = fmt::format(
      "{}, {} in total, {} wall-clock time",
      counted(run.ranks, run.mpi.empty() ? "process" : "rank", run.mpi.empty() ? "processes" : ""),
      time_lines(findings), time(run.wall_s));
  if (!run.date.empty()) facts += fmt::format(", {}", minute_of(run.date));
  if (run.exit_status != 0) facts += fmt::format(", exit status {}", run.exit_status);
  page += wrapped(facts + '.', 0);
  std::vector<std::string> libraries;
  for (const std::string& name : {run.mpi, run.openmp}) {
    if (!name.empty()) libraries.push_back(name.substr(0, name.find(',')));
  }
  if (!libraries.empty()) page += wrapped(listed(libraries) + '.', 0);
  if (!findings.identities.violations.empty()) {
    page +=
        "ERROR: the sums in this result do not add up. Do not rely on it (see the end of the "
        "report).\n";
  }
  return page;
}

}  // namespace culprit::report
