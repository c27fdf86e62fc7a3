// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// A run that goes on is analyzed as one that was cut off at this moment. What the analysis says of
// runs that were cut off is left out: the program has not died.
#include "cli/top/now.h"

#include <fmt/format.h>

#include <time.h>

#include <algorithm>
#include <utility>

#include "assemble/assemble.h"
#include "assemble/open_profile.h"
#include "blame/analyze.h"
#include "blame/from_profile.h"
#include "cli/experiment.h"
#include "cli/open_findings.h"
#include "cli/pipeline.h"
#include "report/words/layout.h"
#include "report/words/names.h"

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

/// When the last of the run was, by the clock of people.
double end_of_run(const trace::Definitions& definitions, const blame::Findings& findings) {
  const auto origin_ns = static_cast<double>(definitions.origin_realtime_ns);
  return origin_ns > 0 ? 1e-9 * origin_ns + findings.run.wall_s : 0;
}

Result<Now> look_at_trace(const fs::path& experiment, const ExperimentInfo& info,
                          unsigned threads) {
  auto records = assemble::open_records(experiment, threads, assemble::Keep::nothing);
  if (!records) return records.error();
  Losses losses = records->facts.losses;
  Alone alone;
  blame::AnalyzeOptions options;
  options.threads = threads;
  options.ranks = &alone;
  auto findings = blame::analyze(*records->source, options, losses);
  if (!findings) return findings.error();
  Now now;
  now.findings = std::move(*findings);
  merge_facts(records->facts, info, now.findings);
  now.newest_s = end_of_run(records->source->definitions(), now.findings);
  return now;
}

Result<Now> look_at_profile(const fs::path& experiment, const ExperimentInfo& info,
                            unsigned threads) {
  auto opened = assemble::open_profile(experiment, threads, assemble::Keep::nothing);
  if (!opened) return opened.error();
  auto findings = blame::findings_of_profile(opened->profile, threads, opened->facts.losses);
  if (!findings) return findings.error();
  Now now;
  now.findings = std::move(*findings);
  merge_facts(opened->facts, info, now.findings);
  now.newest_s = end_of_run(opened->profile.definitions, now.findings);
  return now;
}

void leave_out_the_cut(Now& now, const fs::path& experiment) {
  now.hangs = hang_in_words(now.findings, for_display(experiment).string());
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

/// Threads are not read at the same moment, so a short wait may only seem to have no end.
std::string hang_in_words(const blame::Findings& findings, const std::string& experiment) {
  constexpr double kLong_s = 3;
  const blame::FoundStuck* longest = nullptr;
  size_t count = 0;
  for (const blame::FoundStuck& row : findings.stuck) {
    if (findings.run.wall_s - row.since_s < kLong_s) continue;
    ++count;
    if (longest == nullptr || row.since_s < longest->since_s) longest = &row;
  }
  if (longest == nullptr) return "";
  const report::PageNames names(findings);
  const std::string others =
      count < 2 ? "" : fmt::format(" ({} likewise)", report::counted(count - 1, "other"));
  return fmt::format(
      "This run seems to hang: {} has been in {} for {:.0f} s{}. `culprit stuck {}` says who waits "
      "for whom.",
      names.location(longest->location), longest->call, findings.run.wall_s - longest->since_s,
      others, experiment);
}

Result<Now> look_now(const fs::path& experiment, unsigned threads, Basis basis) {
  const auto info = read_info(experiment);
  if (!info) return info.error();
  const bool runs = assemble::still_runs(experiment);
  std::error_code code;
  if (!runs && fs::exists(findings_file(experiment), code)) return look_at_result(experiment);
  const double at_s = wall_clock_s();
  bool of_profile = basis == Basis::profile || assemble::is_beyond_its_trace(experiment);
  auto now = of_profile ? look_at_profile(experiment, *info, threads)
                        : look_at_trace(experiment, *info, threads);
  if (!now && of_profile && basis == Basis::whichever) {
    of_profile = false;  // what was traced is old by now, as its age says, but better than nothing
    now = look_at_trace(experiment, *info, threads);
  }
  if (!now) return now;
  now->runs = runs;
  now->at_s = at_s;
  now->of_profile = of_profile;
  if (runs) leave_out_the_cut(*now, experiment);
  now->took_s = wall_clock_s() - at_s;
  return now;
}

}  // namespace culprit::cli
