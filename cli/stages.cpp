// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// What decides on the way of an analysis is in cli/pipeline.cpp; these steps know only their input.
#include "cli/stages.h"

#include <system_error>
#include <utility>

#include "assemble/open_profile.h"
#include "blame/analyze.h"
#include "blame/from_profile.h"
#include "cli/message.h"
#include "predict/rerun/gains.h"
#include "trace/otf2/export.h"

namespace culprit::cli {

namespace fs = std::filesystem;

namespace {

constexpr log::Component kLog("analyze");

}  // namespace

Result<blame::Findings> analyze_trace(const trace::Source& source, const PipelineOptions& options,
                                      unsigned threads, Losses& losses) {
  Alone alone;
  blame::AnalyzeOptions analysis;
  analysis.threads = threads;
  analysis.memory = options.memory;
  analysis.disabled = options.disabled;
  analysis.verify = options.verify;
  analysis.last_alone = options.last_alone;
  analysis.ranks = options.ranks != nullptr ? options.ranks : &alone;
  predict::GainObserver gains(threads);
  if (!options.disabled.any()) analysis.observer = &gains;
  return blame::analyze(source, analysis, losses);
}

Result<blame::Findings> analyze_profile(const fs::path& experiment, const ExperimentInfo& info,
                                        const PipelineOptions& options, assemble::RunFacts& facts) {
  const fs::path records = trace_of(experiment, info);
  std::error_code ignored;
  if (!fs::is_directory(records, ignored)) {
    return Error{"an archive has no profile: analyze the records of a run"};
  }
  const auto keep = info.trace.empty() ? assemble::Keep::names_and_facts : assemble::Keep::nothing;
  auto opened = assemble::open_profile(records.parent_path(), options.threads, keep);
  if (!opened) return opened.error();
  facts = std::move(opened->facts);
  return blame::findings_of_profile(opened->profile, options.threads, facts.losses);
}

fs::path archive_folder(const fs::path& experiment) {
  return experiment / "trace";
}

Result<void> write_archive(const trace::Source& source, const fs::path& folder, unsigned threads) {
  const Stopwatch watch;
  Losses lost;  // earlier losses are in the experiment already
  auto written = trace::export_otf2(source, folder, threads, lost);
  if (written) {
    kLog.info("wrote {} ({:.1f} s)", for_display(folder / "traces.otf2").string(), watch.seconds());
  }
  return written;
}

}  // namespace culprit::cli
