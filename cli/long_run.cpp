// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Each part is opened, replayed and given back before the next one: only their findings are in
// memory together.
#include "cli/long_run.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "assemble/assemble.h"
#include "blame/bursts/join.h"
#include "cli/message.h"
#include "report/words/layout.h"

namespace culprit::cli {

namespace fs = std::filesystem;

namespace {

constexpr log::Component kLog("analyze");

struct AnalyzedWindow {
  assemble::Window window;
  blame::Findings findings;
};

/// The archive of the whole part is where that of a run is; those of windows are beside it.
fs::path archive_of(const fs::path& experiment, uint64_t window) {
  const fs::path folder = archive_folder(experiment);
  return window == 0 ? folder : folder / fmt::format("window-{}", window);
}

/// In order of time, the whole part first.
Result<std::vector<AnalyzedWindow>> analyze_windows(const fs::path& experiment,
                                                    const ExperimentInfo& info,
                                                    const PipelineOptions& options) {
  const Stopwatch watch;
  const auto keep = info.trace.empty() ? assemble::Keep::names_and_facts : assemble::Keep::nothing;
  const assemble::LongRun run(trace_of(experiment, info).parent_path(), options.threads);
  std::vector<AnalyzedWindow> all;
  for (uint64_t number = 0; number < run.windows(); ++number) {
    auto opened = run.open(number, keep);
    if (!opened) {
      // Of a run with a small budget there may be no whole part, as a note says later on.
      if (number > 0) kLog.warning("{}", opened.error().sentence);
      continue;
    }
    const trace::Source& source = *opened->records.source;
    if (options.otf2) {
      auto written = write_archive(source, archive_of(experiment, number), options.threads);
      if (!written) return written.error();
    }
    Losses losses = opened->records.facts.losses;
    auto findings = analyze_trace(source, options, options.threads, losses);
    if (!findings && number == 0) return findings.error();
    if (!findings) continue;  // nothing happened in it
    kLog.debug("window {}: from {:.3f} s to {:.3f} s", number, opened->window.begin_s,
               opened->window.end_s);
    all.push_back({opened->window, std::move(*findings)});
  }
  kLog.info("analyzed {} of a long run ({:.1f} s)", report::counted(all.size(), "window"),
            watch.seconds());
  return all;
}

/// The whole part alone, where there is no profile that would say what windows stand for.
blame::Findings whole_part_of(std::vector<AnalyzedWindow> windows) {
  blame::Findings findings = std::move(windows.front().findings);
  findings.run.notes.push_back(
      fmt::format("The run's records did not fit into the budget, and its profile cannot be read: "
                  "this is about its first {:.1f} s, of which all are there. {} of the time behind "
                  "were traced as well: `culprit report --window 1` and so on.",
                  windows.front().window.end_s, report::counted(windows.size() - 1, "window")));
  return findings;
}

}  // namespace

Result<blame::Findings> analyze_long_run(const fs::path& experiment, const ExperimentInfo& info,
                                         const PipelineOptions& options,
                                         assemble::RunFacts& facts) {
  auto windows = analyze_windows(experiment, info, options);
  if (!windows) return windows.error();
  if (windows->empty() || windows->front().window.number != 0) {
    return Error{"the whole part of the run, from its begin, cannot be analyzed"};
  }
  auto profile = analyze_profile(experiment, info, options, facts);
  if (!profile) return whole_part_of(std::move(*windows));
  blame::BurstRun run;
  run.profile = std::move(*profile);
  for (AnalyzedWindow& each : *windows) {
    const assemble::Window& window = each.window;
    if (window.number == 0) {
      run.whole = std::move(each.findings);
      run.whole_s = window.end_s;
    } else {
      run.windows.push_back({static_cast<uint32_t>(window.number), window.begin_s,
                             window.counted_from_s, window.end_s, std::move(each.findings), true});
    }
  }
  return blame::join_bursts(std::move(run), options.threads);
}

Result<blame::Findings> analyze_window(const fs::path& experiment, uint64_t number,
                                       unsigned threads) {
  const auto info = read_info(experiment);
  if (!info) return info.error();
  const fs::path records = trace_of(experiment, *info).parent_path();
  if (!assemble::is_long_run(records)) {
    return Error{fmt::format("'{}' has no windows: all of the run was traced",
                             for_display(experiment).string())};
  }
  auto opened = assemble::LongRun(records, threads).open(number, assemble::Keep::nothing);
  if (!opened) return opened.error();
  Losses losses = opened->records.facts.losses;
  PipelineOptions options;
  options.threads = threads;
  auto findings = analyze_trace(*opened->records.source, options, threads, losses);
  if (!findings) return findings.error();
  merge_facts(opened->records.facts, *info, *findings);
  return findings;
}

}  // namespace culprit::cli
