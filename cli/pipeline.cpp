// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// Every stage reads the results of the one before from the experiment's folder, so each can be
// repeated separately.
#include "cli/pipeline.h"

#include <chrono>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "assemble/assemble.h"
#include "assemble/names/others/not_the_programs.h"
#include "assemble/open_profile.h"
#include "base/parallel.h"
#include "base/settings.h"
#include "blame/analyze.h"
#include "blame/bursts/join.h"
#include "blame/from_profile.h"
#include "cli/message.h"
#include "cli/terminal.h"
#include "predict/rerun/gains.h"
#include "report/db/findings_db.h"
#include "report/formats.h"
#include "report/words/layout.h"
#include "trace/any/open_trace.h"
#include "trace/otf2/export.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

constexpr log::Component kLog("analyze");

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }

 private:
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Opens a trace. Names and facts are stored beside records only if these are the experiment's own:
/// the folders of others stay as they are.
Result<OpenTrace> open_path(const fs::path& experiment, const ExperimentInfo& info,
                            unsigned threads, Losses& losses) {
  const fs::path trace = trace_of(experiment, info);
  std::error_code ignored;
  OpenTrace opened;
  if (fs::is_directory(trace, ignored)) {
    const Stopwatch watch;
    const bool own = info.trace.empty();
    auto records =
        assemble::open_records(trace.parent_path(), threads,
                               own ? assemble::Keep::names_and_facts : assemble::Keep::nothing);
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

/// Collective.
Result<blame::Findings> analyze_trace(const trace::Source& source, const PipelineOptions& options,
                                      unsigned threads, Losses& losses) {
  replay::Alone alone;
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

fs::path archive_of(const fs::path& experiment) {
  return experiment / "trace" / "traces.otf2";
}

Result<void> write_archive(const trace::Source& source, const fs::path& experiment,
                           const PipelineOptions& options) {
  const Stopwatch watch;
  const fs::path folder = archive_of(experiment).parent_path();
  Losses lost;  // earlier losses are in the experiment already
  auto written = trace::export_otf2(source, folder, options.threads, lost);
  if (written) {
    kLog.info("wrote {} ({:.1f} s)", for_display(archive_of(experiment)).string(), watch.seconds());
  }
  return written;
}

/// Several ranks read an archive: it is made of the records, or of another tool's trace, if there
/// is none yet.
Result<OpenTrace> open_for_all(const fs::path& experiment, const ExperimentInfo& info,
                               const PipelineOptions& options, Losses& losses) {
  std::error_code ignored;
  OpenTrace opened;
  fs::path trace = trace_of(experiment, info);
  if (fs::is_directory(trace, ignored) || trace::is_foreign_trace(trace)) {
    auto records = open_trace(experiment, info, options.threads, losses);
    if (!records) return records;
    trace = archive_of(experiment);
    if (!fs::exists(trace, ignored)) {
      const trace::Source& source = *records.value().source;
      if (auto written = write_archive(source, experiment, options); !written) {
        return written.error();
      }
    }
    opened.facts = std::move(records.value().facts);
  } else if (auto facts = assemble::read_facts(experiment)) {
    opened.facts = std::move(*facts);
    losses.merge(opened.facts.losses);
  }
  options.others->tell(fs::absolute(trace));
  auto source = open_together(*options.ranks, trace, losses);
  if (!source) return source.error();
  opened.source = std::move(source).value();
  return opened;
}

/// Collective.
Result<blame::Findings> analyze_records(const fs::path& experiment, const ExperimentInfo& info,
                                        const PipelineOptions& options, assemble::RunFacts& facts,
                                        Losses& losses) {
  const bool alone = options.ranks == nullptr || options.ranks->alone();
  auto opened = alone ? open_trace(experiment, info, options.threads, losses)
                      : open_for_all(experiment, info, options, losses);
  if (!opened) return opened.error();
  if (options.otf2 && alone) {
    auto written = write_archive(*opened->source, experiment, options);
    if (!written) return written.error();
  }
  const unsigned threads = alone ? options.threads : threads_for(*options.ranks, options.threads);
  auto findings = analyze_trace(*opened->source, options, threads, losses);
  facts = std::move(opened->facts);
  return findings;
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
                             unsigned threads, Losses& losses) {
  auto opened = open_path(experiment, info, threads, losses);
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
  if (!opened) return opened.error();
  const assemble::RunFacts& facts = opened.value().facts;
  kLog.info("recorded about {} of {}; named their code ({:.1f} s)",
            report::counted(facts.events, "event"),
            report::counted(facts.processes, "process", "processes"), watch.seconds());
  return options.otf2 ? write_archive(*opened.value().source, experiment, options) : Result<void>();
}

Result<std::vector<AnalyzedWindow>> analyze_windows(const fs::path& experiment,
                                                    const ExperimentInfo& info,
                                                    const PipelineOptions& options) {
  const Stopwatch watch;
  const assemble::LongRun run(experiment, options.threads);
  std::error_code code;
  fs::create_directories(window_file(experiment, 0).parent_path(), code);
  std::vector<AnalyzedWindow> all;
  for (uint64_t number = 0; number < run.windows(); ++number) {
    auto opened = run.open(number, assemble::Keep::names_and_facts);
    if (!opened) {
      kLog.warning("{}", opened.error().sentence);
      continue;
    }
    Losses losses = opened->records.facts.losses;
    auto findings = analyze_trace(*opened->records.source, options, options.threads, losses);
    if (!findings && number == 0) return findings.error();
    if (!findings) continue;  // nothing happened in it
    merge_facts(opened->records.facts, info, *findings);
    if (auto saved = report::save_findings(*findings, window_file(experiment, number)); !saved) {
      kLog.warning("the findings of window {} are not kept: {}", number, saved.error().sentence);
    }
    kLog.debug("window {}: from {:.3f} s to {:.3f} s", number, opened->window.begin_s,
               opened->window.end_s);
    all.push_back({opened->window, std::move(*findings)});
  }
  kLog.info("analyzed {} of a long run ({:.1f} s)", report::counted(all.size(), "window"),
            watch.seconds());
  return all;
}

namespace {

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

/// The run as its profile, its whole part and its windows show it.
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
                             window.counted_from_s, window.end_s, std::move(each.findings)});
    }
  }
  return blame::join_bursts(std::move(run), options.threads);
}

}  // namespace

Result<Analysis> analyze_experiment(const fs::path& experiment, const PipelineOptions& options) {
  const Stopwatch watch;
  auto info = read_info(experiment);
  if (!info) return info.error();
  kLog.debug("reading {}", trace_of(experiment, *info).string());
  const bool alone = options.ranks == nullptr || options.ranks->alone();
  const bool is_long =
      alone && !options.profile && info->trace.empty() && assemble::is_long_run(experiment);
  Losses losses;
  assemble::RunFacts facts;
  Result<blame::Findings> findings = Error{};
  if (is_long) findings = analyze_long_run(experiment, *info, options, facts);
  if ((is_long && !findings) || (options.profile && alone)) {
    // With a small budget nothing was traced: then there is the profile alone.
    const std::string why = is_long ? findings.error().sentence : "";
    findings = analyze_profile(experiment, *info, options, facts);
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

int help_to_analyze(const PipelineOptions& options) {
  const fs::path trace = wait_for_task(*options.ranks);
  if (trace.empty()) return 0;
  Losses losses;
  // Errors occur on all ranks, and the first reports them.
  const auto source = open_together(*options.ranks, trace, losses);
  if (!source) return 0;
  const unsigned threads = threads_for(*options.ranks, options.threads);
  static_cast<void>(analyze_trace(*source.value(), options, threads, losses).ok());
  return 0;
}

bool print_report(const blame::Findings& findings, const fs::path& experiment, bool full) {
  const fs::path place = experiment.empty() ? experiment : for_display(experiment);
  return print_page(report::page_format(full).render(findings, place));
}

fs::path for_display(const fs::path& path) {
  std::error_code code;
  const fs::path here = fs::current_path(code);  // relative() throws where there is none
  if (code) return path;
  const fs::path relative = fs::relative(path, here, code);
  if (code || relative.empty() || relative.string().size() >= path.string().size()) return path;
  return relative;
}

}  // namespace culprit::cli
