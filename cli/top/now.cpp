// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A run that goes on is analyzed as one that was cut off at this moment. What the analysis says of
// runs that were cut off is left out: the program has not died.
#include "cli/top/now.h"

#include <time.h>

#include <algorithm>

#include "assemble/assemble.h"
#include "blame/analyze.h"
#include "cli/experiment.h"
#include "cli/open_findings.h"
#include "cli/pipeline.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

/// Findings of a run that has been analyzed when it ended.
Result<Now> look_at_result(const fs::path& experiment) {
  auto opened = open_findings(experiment);
  if (!opened) return opened.error();
  Now now;
  now.at_s = wall_clock_s();
  now.findings = std::move(opened->findings);
  return now;
}

void leave_out_the_cut(Now& now) {
  now.findings.stuck.clear();
  now.findings.stuck_helpers.clear();
}

}  // namespace

std::string experiment_name(const fs::path& experiment) {
  const fs::path path = fs::absolute(experiment).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

double wall_clock_s() {
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

Result<Now> look_now(const fs::path& experiment, unsigned threads) {
  const auto info = read_info(experiment);
  if (!info) return info.error();
  Now now;
  now.runs = assemble::still_runs(experiment);
  std::error_code code;
  if (!now.runs && fs::exists(findings_file(experiment), code)) return look_at_result(experiment);
  now.at_s = wall_clock_s();
  auto records = assemble::open_records(experiment, threads, assemble::Keep::nothing);
  if (!records) return records.error();
  Losses losses = records->facts.losses;
  replay::Alone alone;
  blame::AnalyzeOptions options;
  options.threads = threads;
  options.ranks = &alone;
  auto findings = blame::analyze(*records->source, options, losses);
  if (!findings) return findings.error();
  now.findings = std::move(*findings);
  merge_facts(records->facts, *info, now.findings);
  if (now.runs) leave_out_the_cut(now);
  const auto origin_ns = static_cast<double>(records->source->definitions().origin_realtime_ns);
  if (origin_ns > 0) now.newest_s = 1e-9 * origin_ns + now.findings.run.wall_s;
  now.took_s = wall_clock_s() - now.at_s;
  return now;
}

}  // namespace culprit::cli
