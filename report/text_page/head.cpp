// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Two heads with the same facts: a short one for the first screen, and one that names the whole
// page's units and libraries.
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

namespace {

std::string title(const blame::RunInfo& run) {
  const std::string& words = !run.command.empty() ? run.command : run.program;
  return shortened(words.empty() ? "(unknown command)" : words, page_width()) + '\n';
}

std::string processes(const blame::RunInfo& run) {
  return counted(run.ranks, run.mpi.empty() ? "process" : "rank",
                 run.mpi.empty() ? "processes" : "");
}

/// ", 2026-11-21 09:40, exit status 1", each as far as there is something to say.
std::string when_and_how(const blame::RunInfo& run) {
  std::string text;
  if (!run.date.empty()) text += ", " + minute_of(run.date);
  if (run.exit_status != 0) text += fmt::format(", exit status {}", run.exit_status);
  return text + '.';
}

std::string alarm(const blame::Findings& findings) {
  if (findings.identities.violations.empty()) return "";
  return "ERROR: the sums in this result do not add up. Do not rely on it (see the end of the "
         "full report).\n";
}

}  // namespace

std::string head_in_short(const blame::Findings& findings, const TimeFormat& time) {
  const blame::RunInfo& run = findings.run;
  return title(run) +
         wrapped(fmt::format("{}, {}, {}{}", processes(run), time_lines(findings), time(run.wall_s),
                             when_and_how(run)),
                 0) +
         alarm(findings);
}

std::string head_section(const blame::Findings& findings, const TimeFormat& time) {
  const blame::RunInfo& run = findings.run;
  std::string page = title(run);
  page += wrapped(fmt::format("{}, {} in total, {} wall-clock time{}", processes(run),
                              time_lines(findings), time(run.wall_s), when_and_how(run)),
                  0);
  std::vector<std::string> libraries;
  for (const std::string& name : {run.mpi, run.openmp}) {
    if (!name.empty()) libraries.push_back(name.substr(0, name.find(',')));
  }
  if (!libraries.empty()) page += wrapped(listed(libraries) + '.', 0);
  return page + alarm(findings);
}

}  // namespace culprit::report
