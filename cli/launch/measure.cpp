// SPDX-FileCopyrightText: The culprit authors
// SPDX-License-Identifier: Apache-2.0

// See measure.h. The order is: refuse a command line that is wrong in itself, before anything is
// made; make the folder; run the program; process the records even if it failed; pass on its exit
// status. A job may have waited for days: where the folder cannot be made, the program runs without
// being measured, and failures after it has run are reported and change no status. A folder that
// contains no data at the end is removed.

#include "cli/launch/measure.h"

#include <fmt/format.h>

#include <sys/resource.h>

#include <csignal>
#include <cstring>
#include <system_error>

#include "assemble/look/ends.h"
#include "assemble/look/keeper.h"
#include "assemble/machine/machine_keeper.h"
#include "cli/installation.h"
#include "cli/launch/child.h"
#include "cli/launch/estimate.h"
#include "cli/launch/exclude.h"
#include "cli/launch/heartbeat.h"
#include "cli/launch/launch_environment.h"
#include "cli/launch/nothing_recorded.h"
#include "cli/launch/openmp_runtime.h"
#include "cli/launch/rendezvous.h"
#include "cli/launch/selection.h"
#include "cli/launcher.h"
#include "cli/message.h"
#include "cli/parameters.h"
#include "cli/pipeline.h"
#include "cli/problems.h"
#include "cli/terminal.h"

namespace culprit::cli {
namespace {

namespace fs = std::filesystem;

constexpr log::Component kLog("measure");

ExperimentInfo describe(const MeasureOptions& options) {
  ExperimentInfo info;
  info.command = options.command.line();
  info.program = options.command.program_name();
  info.date = time_for_people();
  info.selected = sentences_of(options.settings);
  info.parameters = parse_recorded_parameters(options.settings[Setting::param]).value();
  return info;
}

/// Logs the parts that the measurement uses, and those that it must do without.
void log_settings(const LaunchSettings& settings) {
  kLog.debug("preloading {}", settings.preload.string());
  for (size_t i = 0; i < kProbes.size(); ++i) {
    const std::string file = settings.probes[i].string();
    kLog.debug("{} probe: {}", kProbes[i].name, file.empty() ? "none" : file);
  }
  for (const auto& [setting, value] : settings.settings) {
    kLog.debug("{}={}", variable(setting), value);
  }
}

/// Returns the collector's OpenMP setting; empty: leave OpenMP alone.
std::string openmp_runtime(const GivenSettings& given) {
  const auto way = given.value<Setting::openmp>();
  if (given.value<Setting::no_openmp>() || way == "none") return "";
  if (way == "gcc") return "libgomp";
  const auto runtime = best_openmp_runtime();
  return runtime ? runtime->library.string() : "";
}

PipelineOptions pipeline_of(const GivenSettings& given) {
  PipelineOptions options;
  options.threads = given.value<Setting::jobs>();
  options.otf2 = given.value<Setting::otf2>();
  return options;
}

Launch prepare(const MeasureOptions& options, const fs::path& experiment, const fs::path& preload) {
  const GivenSettings& given = options.settings;
  GivenSettings told = given;
  told[Setting::experiment] = experiment.string();
  told[Setting::openmp_runtime] = openmp_runtime(given);
  if (given.value<Setting::estimate>()) told[Setting::count_only] = std::string(1, '1');
  if (const std::string& patterns = given[Setting::exclude]; !patterns.empty()) {
    const auto excluded = exclude_functions(options.command.words(), patterns, experiment);
    if (!excluded) fail(excluded.error());
  }
  const LaunchSettings settings{preload, told.for_program(), installed_probes()};
  log_settings(settings);
  return prepare_launch(options.command, settings, inherited_environment());
}

ChildResult run_measured(HeldSignals& held, const MeasureOptions& options,
                         const fs::path& experiment, const fs::path& preload,
                         const std::string& farewell = {}) {
  auto launch = guarded([&]() -> Result<Launch> { return prepare(options, experiment, preload); });
  if (!launch) {
    fail(launch.error());
    launch = Launch{options.command.words(), inherited_environment()};
  }
  // With thousands of ranks, not all of them should write to one file every second.
  const bool in_front = !farewell.empty();
  assemble::look::WhereaboutsKeeper keeper(experiment);
  assemble::machine::MachineKeeper machine(experiment);
  assemble::look::EndWatch ends(experiment);
  const Attendance attendance{.farewell = farewell, .every_second = [&] {
                                if (in_front) beat(experiment, /*ended=*/false);
                                keeper.step();
                                machine.step();
                              }};
  ChildResult child = run_child(held, launch->command, launch->environment, attendance);
  ends.finish();
  if (!child.started) return child;
  beat(experiment, /*ended=*/true);
  machine.step(/*last=*/true);
  return child;
}

void remove_folder(const fs::path& folder) {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

/// Prints how large the trace would be; nothing is kept.
void print_estimate(const fs::path& experiment) {
  const auto found = assemble::estimate(GuardedPath(experiment) / "raw");
  remove_folder(experiment);
  if (!found) {
    fail(found.error());
  } else if (!print(estimate_page(found.value()))) {
    fail(lost_output());
  }
}

void print_findings(const MeasureOptions& options, const fs::path& experiment) {
  const auto analysis = analyze_experiment(experiment, pipeline_of(options.settings));
  if (!analysis) {
    fail(analysis.error());
    return;
  }
  const fs::path place = analysis->saved ? experiment : fs::path();
  if (!print_report(analysis->findings, place, options.full)) fail(lost_output());
  if (!analysis->saved) fail(analysis->saved.error());
}

/// Processes the records into the requested results.
void finish(const MeasureOptions& options, const fs::path& experiment, int status) {
  if (!has_raw_records(experiment)) {
    const bool tried = assemble::has_records(experiment);
    const int refusal = assemble::refusal_of_records(experiment);
    remove_folder(experiment);
    kLog.error("{}", why_nothing_was_recorded(options.command.words(), status, tried, refusal));
    return;
  }
  if (options.settings.value<Setting::estimate>()) return print_estimate(experiment);
  // The sender of the signal that ended the command may end culprit, too, before it is done.
  if (status != 0) {
    kLog.warning(
        "the command ended with status {}; if no report follows, `culprit analyze {}` shows what "
        "was recorded until then",
        status, for_display(experiment).string());
  }
  if (options.report) return print_findings(options, experiment);
  if (auto done = complete_experiment(experiment, pipeline_of(options.settings)); !done) {
    fail(done.error());
  } else {
    kLog.info("recorded: {}", for_display(experiment).string());
  }
}

/// The same, whatever goes wrong on the way: the program has run, and its status stands. So an
/// analysis that runs out of memory, or is ended by a signal, ends in a process of its own.
void finish_safely(HeldSignals& held, const MeasureOptions& options, const fs::path& experiment,
                   int status) {
  const auto work = [&] {
    const auto done = guarded([&]() -> Result<bool> {
      finish(options, experiment, status);
      return true;
    });
    if (!done) fail(done.error());
  };
  const ChildResult done = run_apart(held, work, {.passes = ends_culprit});
  if (!done.started) return work();
  if (done.status > 128) {
    kLog.error(
        "signal {} ({}) ended the work on what was recorded: `culprit analyze {}` does it "
        "again",
        done.status - 128, strsignal(done.status - 128), for_display(experiment).string());
  }
}

int explain_unstarted(const MeasureOptions& options, const ChildResult& child) {
  kLog.error("cannot start '{}': {}", options.command.words().front(), child.failure);
  return child.status;
}

/// Runs the program without measuring: a failure of culprit must not cost the user a job.
int run_unmeasured(HeldSignals& held, const MeasureOptions& options, const Error& why) {
  kLog.error("{}; the program runs without being measured", why.sentence);
  const ChildResult child = run_child(held, options.command.words(), inherited_environment());
  return child.started ? child.status : explain_unstarted(options, child);
}

Result<fs::path> make_experiment(const MeasureOptions& options, const ExperimentInfo& info) {
  auto experiment = create_experiment(options.settings[Setting::output], info.program);
  if (!experiment) return experiment;
  if (auto written = write_info(experiment.value(), info); !written) {
    remove_folder(experiment.value());
    return written.error();
  }
  return experiment;
}

/// Adds the CPU time of the command that just ended: nothing else was started before.
void add_cpu_time(ExperimentInfo& info) {
  rusage use{};
  if (getrusage(RUSAGE_CHILDREN, &use) != 0) return;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  info.user_s = seconds(use.ru_utime);
  info.system_s = seconds(use.ru_stime);
  info.page_faults = static_cast<uint64_t>(use.ru_minflt) + static_cast<uint64_t>(use.ru_majflt);
}

/// Returns the status that the findings keep. A launcher that was asked to stop ends with a status
/// of its own, which tells of no failure of the program.
int status_to_keep(const ChildResult& child) {
  constexpr int kSignalled = 128;
  const bool own = child.interrupted && child.status > 0 && child.status < kSignalled;
  return own ? kSignalled + SIGTERM : child.status;
}

/// culprit stands in front of whatever starts the ranks, if there is such a thing at all.
int measure_in_front(HeldSignals& held, const MeasureOptions& options, const fs::path& preload) {
  ExperimentInfo info = describe(options);
  if (auto is_new = check_new(options.settings[Setting::output]); !is_new) {
    return misused(is_new.error());
  }
  const auto experiment = guarded([&] { return make_experiment(options, info); });
  if (!experiment) return run_unmeasured(held, options, experiment.error());
  const std::string place = for_display(experiment.value()).string();
  kLog.info("measuring into {}", place);
  const ChildResult child =
      run_measured(held, options, experiment.value(), preload,
                   log::plain_line(fmt::format("asked to stop: if no report follows, `culprit "
                                               "analyze {}` shows what was recorded until now",
                                               place)));
  if (!child.started) {
    remove_folder(experiment.value());
    return explain_unstarted(options, child);
  }
  info.exit_status = status_to_keep(child);
  add_cpu_time(info);
  if (auto written = write_info(experiment.value(), info); !written) fail(written.error());
  finish_safely(held, options, experiment.value(), child.status);
  return child.status;
}

/// This process is one rank of `job`; the last one to end processes the records of all. If the
/// launcher asks the ranks to stop, it will soon kill them: then the records are left for `culprit
/// analyze`.
int measure_as_rank(HeldSignals& held, const MeasureOptions& options, const Job& job,
                    const fs::path& preload) {
  ExperimentInfo info = describe(options);
  info.job = job.token;
  const std::string& wanted = options.settings[Setting::output];
  const auto met = guarded([&] { return meet(job, wanted, info); });
  if (!met) {
    return is_of_another_job(job, wanted) ? misused(met.error())
                                          : run_unmeasured(held, options, met.error());
  }
  const MeetingPlace& place = met.value();
  const ChildResult child = run_measured(held, options, place.experiment, preload);
  if (!child.started) explain_unstarted(options, child);
  if (!is_last(job, place, child.status)) return child.status;
  part(place);
  info.exit_status = worst_status(job, place);
  if (auto written = write_info(place.experiment, info); !written) fail(written.error());
  if (child.interrupted) {
    kLog.warning("the run was stopped from outside: `culprit analyze {}` shows what it recorded",
                 for_display(place.experiment).string());
    return child.status;
  }
  finish_safely(held, options, place.experiment, child.status);
  return child.status;
}

}  // namespace

int measure(const MeasureOptions& options) {
  if (auto good = options.settings.check(); !good) {
    kLog.error("{}", good.error().sentence);
    return kUsage;
  }
  if (auto named = parse_recorded_parameters(options.settings[Setting::param]); !named) {
    kLog.error("{}", named.error().sentence);
    return kUsage;
  }
  if (auto read = take_wrappers(options.settings[Setting::wrappers]); !read) {
    kLog.error("{}", read.error().sentence);
    return kUsage;
  }
  take_debuginfod(options.settings[Setting::debuginfod]);
  const int startable = check_program(options.command.words().front());
  if (startable != 0) return explain_unstartable(options.command.words().front(), startable);
  HeldSignals held;
  const std::string outer = process_environment(variable(Setting::experiment));
  if (!outer.empty()) {
    kLog.info("already being measured into '{}': starting the program unchanged", outer);
    const ChildResult child = run_child(held, options.command.words(), inherited_environment());
    return child.started ? child.status : explain_unstarted(options, child);
  }
  const auto preload = guarded(preload_library);
  if (!preload) return run_unmeasured(held, options, preload.error());
  const auto job = detect_job(process_environment);
  return job ? measure_as_rank(held, options, *job, preload.value())
             : measure_in_front(held, options, preload.value());
}

}  // namespace culprit::cli
