// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Every stage reads the results of the one before from the experiment's folder, so each can be
// repeated separately.
#include "cli/pipeline.h"

#include <cstdlib>
#include <system_error>
#include <utility>

#include "assemble/assemble.h"
#include "assemble/names/others/not_the_programs.h"
#include "assemble/open_profile.h"
#include "base/parallel.h"
#include "base/settings.h"
#include "cli/long_run.h"
#include "cli/message.h"
#include "cli/stages.h"
#include "cli/terminal.h"
#include "report/db/findings_db.h"
#include "report/formats.h"
#include "report/words/layout.h"
#include "trace/any/open_trace.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

constexpr log::Component kLog("analyze");

/// Opens a trace. Names and facts are stored beside records only if these are the experiment's own:
/// the folders of others stay as they are.
Result<OpenTrace> open_path(const fs::path& experiment, const ExperimentInfo& info,
                            unsigned threads, Losses& losses, Transport* ranks) {
  const fs::path trace = trace_of(experiment, info);
  std::error_code ignored;
  OpenTrace opened;
  if (fs::is_directory(trace, ignored)) {
    const Stopwatch watch;
    const bool own = info.trace.empty();
    auto records = assemble::open_records(
        trace.parent_path(), threads,
        own ? assemble::Keep::names_and_facts : assemble::Keep::nothing, ranks);
    if (!records) return records.error();
    const assemble::RunFacts& facts = records.value().facts;
    if (!records.value().kept) {
      kLog.warning("the names of functions are not kept with the records: {}",
                   records.value().kept.error().sentence);
    }
    kLog.debug("read the records: about {} of {} ({:.1f} s)",
               report::counted(facts.events, "event"),
               report::counted(facts.processes, "process", "processes"), watch.seconds());
    opened = {std::move(records.value().source), std::move(records.value().facts)};
    return opened;
  }
  std::vector<fs::path> files(info.traces.begin(), info.traces.end());
  if (files.empty()) files.push_back(trace);
  auto source = trace::open_traces(files, threads, losses, opened.facts.notes);
  if (!source) return source.error();
  opened.source = std::move(source).value();
  return opened;
}

/// The archive that several ranks are to read: another tool's traces become one first, and so do
/// records if an archive of them is wanted.
Result<fs::path> archive_for_all(const fs::path& experiment, const ExperimentInfo& info,
                                 const PipelineOptions& options, OpenTrace& opened,
                                 Losses& losses) {
  std::error_code ignored;
  const fs::path trace = trace_of(experiment, info);
  if (!fs::is_directory(trace, ignored) && !trace::is_foreign_trace(trace)) {
    if (auto facts = assemble::read_facts(experiment)) {
      opened.facts = std::move(*facts);
      losses.merge(opened.facts.losses);
    }
    return trace;
  }
  auto one = open_trace(experiment, info, options.threads, losses);
  if (!one) return one.error();
  opened.facts = std::move(one.value().facts);
  const fs::path archive = archive_folder(experiment) / "traces.otf2";
  if (!fs::exists(archive, ignored)) {
    auto written = write_archive(*one.value().source, archive_folder(experiment), options.threads);
    if (!written) return written.error();
  }
  return archive;
}

/// Several ranks read a run's records together. Collective, but for what comes before the others
/// know the task. `threads`: of each rank.
Result<OpenTrace> open_for_all(const fs::path& experiment, const ExperimentInfo& info,
                               const PipelineOptions& options, unsigned& threads, Losses& losses) {
  std::error_code ignored;
  const fs::path trace = trace_of(experiment, info);
  if (fs::is_directory(trace, ignored) && !options.otf2) {
    options.others->tell({Task::What::records, fs::absolute(trace.parent_path())});
    threads = threads_for(*options.ranks, options.threads);
    return open_trace(experiment, info, threads, losses, options.ranks);
  }
  OpenTrace opened;
  const auto archive = archive_for_all(experiment, info, options, opened, losses);
  if (!archive) return archive.error();
  options.others->tell({Task::What::archive, fs::absolute(archive.value())});
  threads = threads_for(*options.ranks, options.threads);
  auto source = open_together(*options.ranks, archive.value(), losses);
  if (!source) return source.error();
  opened.source = std::move(source).value();
  return opened;
}

/// Collective.
Result<blame::Findings> analyze_records(const fs::path& experiment, const ExperimentInfo& info,
                                        const PipelineOptions& options, assemble::RunFacts& facts,
                                        Losses& losses) {
  const bool alone = options.ranks == nullptr || options.ranks->alone();
  unsigned threads = options.threads;
  auto opened = alone ? open_trace(experiment, info, threads, losses)
                      : open_for_all(experiment, info, options, threads, losses);
  if (!opened) return opened.error();
  if (options.otf2 && alone) {
    auto written = write_archive(*opened->source, archive_folder(experiment), options.threads);
    if (!written) return written.error();
  }
  auto findings = analyze_trace(*opened->source, options, threads, losses);
  facts = std::move(opened->facts);
  return findings;
}

bool is_of_long_run(const fs::path& experiment, const ExperimentInfo& info) {
  const fs::path records = trace_of(experiment, info);
  std::error_code ignored;
  return fs::is_directory(records, ignored) && assemble::is_long_run(records.parent_path());
}

void warn_of_unstarted_threads() {
  if (const size_t unstarted = unstarted_threads(); unstarted > 0) {
    kLog.warning("{} could not be started (limits on processes or memory): fewer did the work",
                 report::counted(unstarted, "thread"));
  }
}

}  // namespace

Result<void> take_wrappers(const std::string& file) {
  if (!file.empty()) setenv(variable(Setting::wrappers), file.c_str(), 1);
  const auto lists = assemble::NotThePrograms::of_user();
  return lists ? Result<void>() : lists.error();
}

void take_debuginfod(const std::string& seconds) {
  if (!seconds.empty()) setenv(variable(Setting::debuginfod), seconds.c_str(), 1);
}

Result<OpenTrace> open_trace(const fs::path& experiment, const ExperimentInfo& info,
                             unsigned threads, Losses& losses, Transport* ranks) {
  auto opened = open_path(experiment, info, threads, losses, ranks);
  if (!opened) return opened;
  auto facts = assemble::read_facts(experiment);
  if (!facts) {
    // A new experiment about the records of another one knows what that one knows.
    if (opened.value().facts.processes > 0) {
      static_cast<void>(assemble::write_facts(experiment, opened.value().facts));
    }
  } else if (opened.value().facts.processes == 0) {
    opened.value().facts = std::move(*facts);
  }
  losses.merge(opened.value().facts.losses);
  return opened;
}

Result<void> complete_experiment(const fs::path& experiment, const PipelineOptions& options) {
  const Stopwatch watch;
  const auto info = read_info(experiment);
  if (!info) return info.error();
  Losses losses;
  const auto opened = open_trace(experiment, info.value(), options.threads, losses);
  if (!opened) {
    if (!is_of_long_run(experiment, *info)) return opened.error();
    // With a small budget nothing was traced: then there is the profile alone, whose code is named.
    const auto profile = assemble::open_profile(trace_of(experiment, *info).parent_path(),
                                                options.threads, assemble::Keep::names_and_facts);
    if (!profile) return opened.error();
    kLog.info("recorded a profile of {}, and no events; named its code ({:.1f} s)",
              report::counted(profile->facts.processes, "process", "processes"), watch.seconds());
    return {};
  }
  const assemble::RunFacts& facts = opened.value().facts;
  kLog.info("recorded about {} of {}; named their code ({:.1f} s)",
            report::counted(facts.events, "event"),
            report::counted(facts.processes, "process", "processes"), watch.seconds());
  if (!options.otf2) return {};
  return write_archive(*opened.value().source, archive_folder(experiment), options.threads);
}

Result<Analysis> analyze_experiment(const fs::path& experiment, const PipelineOptions& options) {
  const Stopwatch watch;
  auto info = read_info(experiment);
  if (!info) return info.error();
  kLog.debug("reading {}", trace_of(experiment, *info).string());
  const bool is_long = !options.profile && is_of_long_run(experiment, *info);
  Losses losses;
  assemble::RunFacts facts;
  Result<blame::Findings> findings = Error{};
  // Profiles and windows are small: one rank analyses them, whatever the others have.
  PipelineOptions by_one = options;
  by_one.ranks = nullptr;
  if (is_long) findings = analyze_long_run(experiment, *info, by_one, facts);
  if ((is_long && !findings) || options.profile) {
    // With a small budget nothing was traced: then there is the profile alone.
    const std::string why = is_long ? findings.error().sentence : "";
    findings = analyze_profile(experiment, *info, by_one, facts);
    if (findings && is_long) {
      findings->run.notes.push_back("These figures are of the profile alone: " + why + ".");
    }
  } else if (!is_long) {
    findings = analyze_records(experiment, *info, options, facts, losses);
  }
  if (!findings) return findings.error();
  merge_facts(facts, *info, *findings);
  auto saved = report::save_findings(*findings, findings_file(experiment));
  warn_of_unstarted_threads();
  for (const auto& [name, loss] : findings->losses.all()) {
    kLog.debug("{} ({}): {}", name, loss.count, loss.advice);
  }
  kLog.info("analyzed {} ({:.1f} s): {}", report::counted(findings->run.locations, "location"),
            watch.seconds(), for_display(experiment).string());
  return Analysis{std::move(*findings), std::move(saved)};
}

/// The other ranks' part of the opening. Errors occur on all ranks, and the first reports them.
Result<std::unique_ptr<trace::Source>> open_task(const Task& task, Transport& ranks,
                                                 unsigned threads) {
  Losses counted_by_first;
  if (task.what == Task::What::archive) return open_together(ranks, task.place, counted_by_first);
  auto records = assemble::open_records(task.place, threads, assemble::Keep::nothing, &ranks);
  if (!records) return records.error();
  return std::move(records.value().source);
}

int help_to_analyze(const PipelineOptions& options) {
  const Task task = wait_for_task(*options.ranks);
  if (task.what == Task::What::nothing) return 0;
  const unsigned threads = threads_for(*options.ranks, options.threads);
  const auto source = open_task(task, *options.ranks, threads);
  if (!source) return 0;
  Losses losses;
  static_cast<void>(analyze_trace(*source.value(), options, threads, losses).ok());
  return 0;
}

bool print_report(const blame::Findings& findings, const fs::path& experiment, bool full) {
  const fs::path place = experiment.empty() ? experiment : for_display(experiment);
  return print_page(report::page_format(full).render(findings, place));
}

}  // namespace culprit::cli
